import { randomInt } from 'node:crypto'

const [firstPort, lastPort] = [47_000, 47_999]

/** Lets the server of the test run call a part of loopback, where stories have their receivers and pages. */
export const reachableLoopback = {
  OUTBOUND_ALLOWED_HOSTS: '127.77.0.0/16',
  OUTBOUND_ALLOWED_PORTS: `${firstPort}-${lastPort}`,
}

/** An address in that part, which no other test uses. */
export function reachableAddress(): { host: string; port: number } {
  return { host: `127.77.${randomInt(256)}.${randomInt(1, 255)}`, port: randomInt(firstPort, lastPort + 1) }
}
