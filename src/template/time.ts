const MONTHS = "January February March April May June July August September October November December".split(" ");
const DAYS = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split(" ");

const two = (value: number): string => String(value).padStart(2, "0");

/** A time (UTC) as Python's `strftime` writes it, as far as chat templates use it. */
export function formatTime(time: Date, format: string): string {
  const month = MONTHS[time.getUTCMonth()] ?? "";
  const day = DAYS[time.getUTCDay()] ?? "";
  const hour = time.getUTCHours();
  const parts: Readonly<Record<string, string>> = {
    a: day.slice(0, 3),
    A: day,
    b: month.slice(0, 3),
    B: month,
    d: two(time.getUTCDate()),
    "-d": String(time.getUTCDate()),
    m: two(time.getUTCMonth() + 1),
    y: two(time.getUTCFullYear() % 100),
    Y: String(time.getUTCFullYear()),
    H: two(hour),
    I: two(((hour + 11) % 12) + 1),
    p: hour < 12 ? "AM" : "PM",
    M: two(time.getUTCMinutes()),
    S: two(time.getUTCSeconds()),
    "%": "%",
  };
  return format.replace(/%(-d|.)/g, (whole, key: string) => parts[key] ?? whole);
}
