import ipaddr from 'ipaddr.js'

type Value = string | number | Value[] | { [name: string]: Value }
type Child = { node: number } | { data: number } | undefined

/** Writes a database in the MaxMind format with one record per network; networks must not overlap. */
export function mmdb(records: Record<string, Value>, { ipVersion = 6 }: { ipVersion?: 4 | 6 } = {}): Buffer {
  const nodes: [Child, Child][] = [[undefined, undefined]]
  const data: Buffer[] = []
  let dataBytes = 0
  for (const [network, record] of Object.entries(records)) {
    insertLeaf(nodes, networkBits(network, ipVersion), { data: dataBytes })
    const encoded = encode(record)
    data.push(encoded)
    dataBytes += encoded.length
  }
  const tree = Buffer.alloc(nodes.length * 6)
  const pointer = (child: Child) => {
    if (!child) return nodes.length
    return 'node' in child ? child.node : nodes.length + 16 + child.data
  }
  for (const [index, [left, right]] of nodes.entries()) {
    tree.writeUIntBE(pointer(left), index * 6, 3)
    tree.writeUIntBE(pointer(right), index * 6 + 3, 3)
  }
  const metadata = encode({
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1_767_225_600,
    database_type: 'Test-City',
    description: { en: 'Made by a test' },
    ip_version: ipVersion,
    languages: ['en'],
    node_count: nodes.length,
    record_size: 24,
  })
  const marker = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1')
  return Buffer.concat([tree, Buffer.alloc(16), ...data, marker, metadata])
}

function insertLeaf(nodes: [Child, Child][], bits: number[], leaf: Child): void {
  let current = 0
  for (const [depth, bit] of bits.entries()) {
    const node = nodes[current] as [Child, Child]
    if (depth === bits.length - 1) {
      node[bit] = leaf
      return
    }
    const child = node[bit] ?? { node: nodes.push([undefined, undefined]) - 1 }
    if (!('node' in child)) throw new Error('Networks overlap')
    node[bit] = child
    current = child.node
  }
}

/** IPv4 addresses are at the start of an IPv6 tree. */
function networkBits(network: string, ipVersion: 4 | 6): number[] {
  const [address, length] = ipaddr.parseCIDR(network)
  const bits = address.toByteArray().flatMap((byte) => [...byte.toString(2).padStart(8, '0')].map(Number))
  const before = address.kind() === 'ipv4' && ipVersion === 6 ? Array<number>(96).fill(0) : []
  return [...before, ...bits.slice(0, length)]
}

function encode(value: Value): Buffer {
  if (typeof value === 'string') {
    const text = Buffer.from(value)
    return Buffer.concat([control(2, text.length), text])
  }
  if (typeof value === 'number') {
    const number = Buffer.alloc(4)
    number.writeUInt32BE(value)
    return Buffer.concat([control(6, 4), number])
  }
  if (Array.isArray(value)) return Buffer.concat([control(11, value.length), ...value.map(encode)])
  const entries = Object.entries(value)
  return Buffer.concat([control(7, entries.length), ...entries.flatMap(([name, item]) => [encode(name), encode(item)])])
}

function control(type: number, size: number): Buffer {
  const isLong = size >= 29
  if (size >= 285) throw new Error('Longer than this writer can write')
  const first = ((type < 8 ? type : 0) << 5) | (isLong ? 29 : size)
  return Buffer.from([first, ...(type < 8 ? [] : [type - 7]), ...(isLong ? [size - 29] : [])])
}
