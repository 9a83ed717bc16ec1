import { describe, expect, it } from "vitest";
import { mayFetch } from "../../src/gateway/image-hosts.ts";

describe("a public host is fetched", () => {
  it.each([
    "https://images.example.com/a.png",
    "http://example.org:8080/a.png?x=1#y",
    "https://EXAMPLE.com./a.png",
    "https://8.8.8.8/a.png",
    "https://172.32.0.1/a.png",
    "https://100.128.0.1/a.png",
    "https://[2606:4700::1111]/a.png",
    "https://bücher.de/a.png",
    "https://10.example.com/a.png",
    "https://local.example.com/a.png",
  ])("%s", (url) => expect(mayFetch(url, undefined)).toBe(true));
});

describe("nothing else is", () => {
  it.each([
    // loopback
    "http://127.0.0.1/",
    "http://127.0.0.1:8787/",
    "http://127.1/",
    "http://127.255.255.254/",
    "http://localhost/",
    "http://LOCALHOST/",
    "http://localhost./",
    "http://a.localhost/",
    // in every spelling of a number
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.0.0.1/",
    "http://0177.0.0.1/",
    "http://017700000001/",
    "http://0x7f.1/",
    "http://127.0.0.1./",
    "http://①②⑦.⓪.⓪.①/",
    "http://127。0。0。1/",
    "http://%31%32%37.0.0.1/",
    "http://0/",
    "http://0.0.0.0/",
    // private, shared, link-local, documentation, multicast, reserved
    "http://10.0.0.1/",
    "http://10.1/",
    "http://172.16.0.1/",
    "http://172.31.255.255/",
    "http://192.168.1.1/",
    "http://192.168.257/",
    "http://100.64.0.1/",
    "http://198.18.0.1/",
    "http://192.0.2.1/",
    "http://203.0.113.9/",
    "http://224.0.0.1/",
    "http://240.0.0.1/",
    "http://255.255.255.255/",
    // the places where clouds talk to their machines
    "http://169.254.169.254/latest/meta-data/",
    "http://0xa9fea9fe/",
    "http://2852039166/",
    "http://0251.0376.0251.0376/",
    "http://[::ffff:169.254.169.254]/",
    "http://[fd00:ec2::254]/",
    "http://metadata.google.internal/",
    "http://metadata/",
    "http://100.100.100.200/",
    "http://168.63.129.16/",
    "http://192.0.0.192/",
    // IPv6
    "http://[::1]/",
    "http://[::]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::127.0.0.1]/",
    "http://[fe80::1]/",
    "http://[fc00::1]/",
    "http://[fd12:3456::1]/",
    "http://[ff02::1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[2002:7f00:1::]/",
    "http://[2001::1]/",
    "http://[2001:db8::1]/",
    "http://[3fff::1]/",
    // names that mean something inside only
    "http://gpu/",
    "http://gpu:8000/",
    "http://printer.local/",
    "http://router.lan/",
    "http://db.internal./",
    "http://a.home.arpa/",
    "http://x.corp/",
    "http://1.0.0.127.in-addr.arpa/",
    // credentials and other schemes
    "http://user@example.com/",
    "http://user:pass@example.com/",
    "http://example.com@127.0.0.1/",
    "ftp://example.com/",
    "file:///etc/passwd",
    "data:image/png;base64,AA",
    "javascript:1",
    "//example.com/a.png",
    "example.com/a.png",
    "",
  ])("%s", (url) => expect(mayFetch(url, undefined)).toBe(false));
});

describe("an operator's list", () => {
  it.each<[string, boolean]>([
    ["https://images.example.com/a.png", true],
    ["https://IMAGES.example.com./a.png", true],
    ["http://127.0.0.1:9000/a.png", true],
    ["https://example.com/a.png", false],
    ["https://a.images.example.com/a.png", false],
    ["https://images.example.com.evil.net/a.png", false],
    ["https://u@images.example.com/a.png", false],
  ])("%s", (url, allowed) => expect(mayFetch(url, ["images.example.com", "127.0.0.1"])).toBe(allowed));
});
