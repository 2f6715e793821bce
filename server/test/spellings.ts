const byReason: Record<string, string> = {
  private: `
    http://127.0.0.1:{p}/ http://127.0.0.1:{p} http://127.0.0.1:{p}/?a#b HTTP://127.0.0.1:{p}/ http:127.0.0.1:{p}
    http:/127.0.0.1:{p}/ http:///127.0.0.1:{p}/ http:////127.0.0.1:{p}/ http:\\\\127.0.0.1:{p}\\ http://127.0.0.1.:{p}/
    http://127.0.0.2:{p}/ http://127.1.2.3:{p}/ http://127.255.255.255:{p}/ http://127.1:{p}/ http://127.0.1:{p}/
    http://127.1.:{p}/ http://2130706433:{p}/ http://2130706433.:{p}/ http://0x7f000001:{p}/ http://0x7F000001:{p}/
    http://0x7f.0.0.1:{p}/ http://0x7f.0x0.0x0.0x1:{p}/ http://0x7f.1:{p}/ http://0X7f.1:{p}/ http://0177.0.0.1:{p}/
    http://0177.0.0.01:{p}/ http://0177.1:{p}/ http://017700000001:{p}/ http://00000177.0.0.1:{p}/
    http://0x7f.0.1:{p}/ http://127.0x0.1:{p}/ http://0x000000007f000001:{p}/ http://127.0.0.0x1:{p}/
    http://127.00.00.01:{p}/ http://0x0000007f.0.0.1:{p}/ http://0177.0x0.0.1:{p}/ http://127.65535:{p}/
    http://127.16777215:{p}/ http://0x7f.0xffffff:{p}/
    http://%31%32%37.0.0.1:{p}/ http://127%2e0%2e0%2e1:{p}/ http://127.0.0.%31:{p}/ http://%30x7f.1:{p}/
    http://１２７.０.０.１:{p}/ http://127。0。0。1:{p}/ http://127．0．0．1:{p}/ http://127｡0｡0｡1:{p}/ http://①②⑦.⓪.⓪.①:{p}/
    http://𝟏𝟐𝟕.𝟎.𝟎.𝟏:{p}/ http://１２７。１:{p}/ http://0ｘ7f.1:{p}/ http://127.0.0.1​:{p}/ http://127.­0.0.1:{p}/
    http://0.0.0.0:{p}/ http://0:{p}/ http://0x0:{p}/ http://00:{p}/ http://0.1:{p}/ http://0.255.255.255:{p}/
    http://[::1]:{p}/ http://[0:0:0:0:0:0:0:1]:{p}/ http://[0000::0001]:{p}/ http://[0::1]:{p}/ http://[::0001]:{p}/
    http://[::0.0.0.1]:{p}/ http://[::]:{p}/ http://[0::0]:{p}/ http://[::127.0.0.1]:{p}/ http://[::7f00:1]:{p}/
    http://[::ffff:127.0.0.1]:{p}/ http://[::ffff:7f00:1]:{p}/ http://[::FFFF:7F00:0001]:{p}/
    http://[0:0:0:0:0:ffff:127.0.0.1]:{p}/ http://[::ffff:10.0.0.1]:{p}/ http://[::ffff:169.254.169.254]:{p}/
    http://[::ffff:0.0.0.0]:{p}/ http://[::ffff:192.168.1.1]:{p}/ http://[::ffff:0:127.0.0.1]:{p}/
    http://[64:ff9b::127.0.0.1]:{p}/ http://[64:ff9b::7f00:1]:{p}/ http://[64:ff9b::10.0.0.1]:{p}/
    http://[64:ff9b::169.254.169.254]:{p}/ http://[64:ff9b::]:{p}/ http://[64:ff9b:1::127.0.0.1]:{p}/
    http://[64:ff9b:1::8.8.8.8]:{p}/ http://[2002:7f00:1::]:{p}/ http://[2002:7f00:0001::1]:{p}/
    http://[2002:a00:1::]:{p}/ http://[2002:a9fe:a9fe::]:{p}/ http://[2001::1]:{p}/
    http://[2001:0:7f00:1::]:{p}/ http://[2001:0:4136:e378:8000:63bf:80ff:fffe]:{p}/ http://[2001:db8::1]:{p}/
    http://[3fff::1]:{p}/ http://[2001:2::1]:{p}/ http://[2001:10::1]:{p}/ http://[2001:20::1]:{p}/
    http://[fe80::1]:{p}/ http://[febf::1]:{p}/ http://[fec0::1]:{p}/ http://[fc00::1]:{p}/ http://[fd00::1]:{p}/
    http://[fd00:ec2::254]:{p}/ http://[fdff:ffff::1]:{p}/ http://[ff02::1]:{p}/ http://[ff0e::1]:{p}/
    http://[100::1]:{p}/ http://[4000::1]:{p}/ http://[5f00::1]:{p}/ http://[::2]:{p}/
    http://10.0.0.1:{p}/ http://10.255.255.255:{p}/ http://172.16.0.1:{p}/ http://172.31.255.255:{p}/
    http://192.168.0.1:{p}/ http://192.168.1.1:{p}/ http://3232235777:{p}/ http://0xa9fea9fe:{p}/ http://2852039166:{p}/
    http://169.254.169.254:{p}/latest/meta-data/ http://169.254.169.254.:{p}/ http://0251.0376.0251.0376:{p}/
    http://169.254.0.1:{p}/ http://169.254.170.2:{p}/ http://100.64.0.1:{p}/ http://100.100.100.200:{p}/
    http://100.127.255.255:{p}/ http://192.0.0.1:{p}/ http://192.0.0.192:{p}/ http://192.0.2.1:{p}/
    http://192.88.99.1:{p}/ http://198.18.0.1:{p}/ http://198.19.255.255:{p}/ http://198.51.100.1:{p}/
    http://203.0.113.1:{p}/ http://224.0.0.1:{p}/ http://239.255.255.255:{p}/ http://240.0.0.1:{p}/
    http://255.255.255.255:{p}/ http://4294967295:{p}/
    http://localhost:{p}/ http://LOCALHOST:{p}/ http://localhost.:{p}/ http://ｌｏｃａｌｈｏｓｔ:{p}/ http://ⓛocalhost:{p}/
    http://%6cocalhost:{p}/ http://localhost.localdomain:{p}/ http://anything.localhost:{p}/ http://internal:{p}/
    http://127.0.0.1.nip.example:{p}/ http://7f000001.rebind.example:{p}/ http://metadata.google.internal:{p}/
    http://xn--lcalhost-54a.example:{p}/ http://löcalhost.example:{p}/ http://example.com.:{p}/ http://ip6-localhost:{p}/
    https://127.0.0.1:{p}/ https://localhost:{p}/ https://[::1]:{p}/ https://2130706433:{p}/
    http://127.0.0.1:{p}/..;@example.com/ http://127.0.0.1:{p}/@example.com http://127.0.0.1:{p}?@example.com/
    http://127.0.0.1:{p}#@example.com/ http://127.0.0.1:{p}\\@example.com/ http://example.com:{p}/%2f%2f127.0.0.1`,
  credentials: `
    http://example.com@127.0.0.1:{p}/ http://example.com:80@127.0.0.1:{p}/ http://user:pass@127.0.0.1:{p}/
    http://example.com%00@127.0.0.1:{p}/ http://:secret@127.0.0.1:{p}/ http://a@b@127.0.0.1:{p}/
    http://127.0.0.1:{p}@example.com/ http://127.0.0.1%3A{p}@example.com/ https://example.com&@127.0.0.1:{p}/`,
  scheme: `
    file:///etc/passwd ftp://127.0.0.1:{p}/ gopher://127.0.0.1:{p}/_GET dict://127.0.0.1:{p}/ ws://127.0.0.1:{p}/
    wss://127.0.0.1:{p}/ unix:/var/run/docker.sock http+unix://%2fvar%2frun%2fdocker.sock/ data:text/plain,hello
    blob:http://127.0.0.1:{p}/1 javascript:fetch("http://127.0.0.1") jar:http://127.0.0.1!/ localhost:{p}
    view-source:http://127.0.0.1:{p}/ about:blank ldap://127.0.0.1:{p}/`,
  url: `
    //127.0.0.1:{p}/ /etc/passwd 127.0.0.1 127.0.0.1:{p} http:// http://[::1 http://[::1%25lo]:{p}/ http://[fe80::1%25lo]/
    http://256.256.256.256:{p}/ http://127.0.0.1.5:{p}/ http://4294967296:{p}/ http://0x100000000:{p}/ http://127.0.0.08:{p}/
    http://127.0.0.1:99999/ http://exa%00mple.com:{p}/ http://127.0.0.1%20:{p}/ http://[127.0.0.1]:{p}/ http://1.2.3.4.5:{p}/
    http://[::ffff:127.0.0.1.]:{p}/`,
}
/**
 * URLs that `fetchOutbound` must refuse, each with the expected reason. Every host name of the test resolves to
 * loopback. `{p}` is the port of a server that must never be called.
 */
export const spellings = Object.entries(byReason).flatMap(([reason, text]) =>
  text
    .trim()
    .split(/\s+/)
    .map((spelling) => [spelling, reason] as const),
)
