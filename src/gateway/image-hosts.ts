/**
 * Whether the gateway fetches a URL that a client has named: http(s), without credentials, to a public host. An address is looked at
 * as the URL standard spells it, into which `new URL` turns all others (decimal, octal, hexadecimal, short, mapped, full-width). A
 * name is taken at its word: a public name may lead to a private address, which a Worker cannot find out before it asks. That is
 * what `hosts` is for. @param hosts the operator's: exactly these, whatever they are
 */
export function mayFetch(url: string, hosts: readonly string[] | undefined): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, username, password, hostname } = new URL(url);
  if ((protocol !== "http:" && protocol !== "https:") || username !== "" || password !== "") return false;
  const host = hostname.replace(/\.+$/, "").toLowerCase();
  if (hosts !== undefined) return hosts.includes(host);
  if (host.startsWith("[")) return isPublicIpv6(groupsOf(host.slice(1, -1)));
  const address = /^(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(host);
  return address === null ? isPublicName(host) : isPublicIpv4(address.slice(1).map(Number));
}

/** Names that only mean something inside of a network. Those without a dot do as well. */
const PRIVATE_ENDINGS =
  /(?:^|\.)(?:localhost|local|localdomain|internal|intranet|private|corp|home|lan|test|invalid|example|onion|arpa)$/;

const isPublicName = (host: string): boolean => host.includes(".") && !PRIVATE_ENDINGS.test(host);

/** https://www.iana.org/assignments/iana-ipv4-special-registry, and an address at which Azure answers its machines. */
const PRIVATE_IPV4: readonly (readonly [address: readonly number[], bits: number])[] = [
  [[0, 0, 0, 0], 8],
  [[10, 0, 0, 0], 8],
  [[100, 64, 0, 0], 10],
  [[127, 0, 0, 0], 8],
  [[168, 63, 129, 16], 32],
  [[169, 254, 0, 0], 16],
  [[172, 16, 0, 0], 12],
  [[192, 0, 0, 0], 24],
  [[192, 0, 2, 0], 24],
  [[192, 88, 99, 0], 24],
  [[192, 168, 0, 0], 16],
  [[198, 18, 0, 0], 15],
  [[198, 51, 100, 0], 24],
  [[203, 0, 113, 0], 24],
  [[224, 0, 0, 0], 3],
];

const numberOf = (octets: readonly number[]): number => octets.reduce((sum, octet) => sum * 256 + octet, 0);

function isPublicIpv4(octets: readonly number[]): boolean {
  const address = numberOf(octets);
  return !PRIVATE_IPV4.some(([start, bits]) => {
    const size = 2 ** (32 - bits);
    return Math.floor(address / size) === Math.floor(numberOf(start) / size);
  });
}

/** The eight groups of an address in the spelling of the URL standard. */
function groupsOf(address: string): number[] {
  const [head = "", tail] = address.split("::");
  const parse = (text: string): number[] => (text === "" ? [] : text.split(":").map((group) => parseInt(group, 16)));
  const [before, after] = [parse(head), parse(tail ?? "")];
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length;
  return [...before, ...Array.from({ length: zeros }, () => 0), ...after];
}

/** Global unicast, but for its parts that carry IPv4 addresses (Teredo, 6to4) or are for documents. All else is special. */
function isPublicIpv6(groups: readonly number[]): boolean {
  const [first = 0, second = 0] = groups;
  if (first < 0x2000 || first > 0x3fff) return false;
  if (first === 0x2001) return second >= 0x0200 && second !== 0x0db8;
  return first !== 0x2002 && !(first === 0x3fff && second < 0x1000);
}
