import { connect, type Socket } from 'node:net'

/** One address of the installation, as DNS returns several, with its open connections. */
type Door = { address: string; idle: Socket[]; avoidedUntil: number }

/** What became of a request: `unreachable` means that it was never sent, as when a browser tries the next address. */
class Unreachable extends Error {}

export type Visitor = {
  /** Sends a request to the first address that accepts a connection, and returns the status. */
  send(request: Buffer): Promise<number>
  /** Retries a request, at another address than the last one if there is another. */
  sendAgain(request: Buffer): Promise<number>
}

/** The problem of a visit on a connection that was open before its other end lost the power. */
export const silentConnection = 'no response on a connection that was open before'

const port = 80
const connectWithinMs = 2_000
const answerWithinMs = 20_000
const avoidedForMs = 3_000

/** A client that knows all addresses, nearest first, and keeps connections open as browsers do. */
export function openVisitor(addresses: string[]): Visitor {
  const doors = addresses.map((address): Door => ({ address, idle: [], avoidedUntil: 0 }))

  async function sendTo(order: Door[], request: Buffer): Promise<number> {
    let problem: unknown
    for (const door of order) {
      try {
        return await ask(door, request)
      } catch (error) {
        if (!(error instanceof Unreachable)) throw error
        door.avoidedUntil = performance.now() + avoidedForMs
        problem = error
      }
    }
    throw problem
  }

  function ordered(): Door[] {
    const now = performance.now()
    return doors.toSorted((one, other) => Number(one.avoidedUntil > now) - Number(other.avoidedUntil > now))
  }

  return {
    send: (request) => sendTo(ordered(), request),
    sendAgain: (request) => sendTo(ordered().reverse(), request),
  }
}

/** Every expected response is a redirect without a body, so it ends with its headers. */
async function ask(door: Door, request: Buffer): Promise<number> {
  const idle = door.idle.pop()
  const socket = idle ?? (await open(door))
  return new Promise((resolve, reject) => {
    let answer = ''
    const fail = (problem: string) => {
      clearTimeout(timer)
      socket.off('data', read).off('close', closed)
      socket.destroy()
      reject(new Error(problem))
    }
    const closed = () => fail('the connection closed before the response')
    const silence = idle ? silentConnection : `no response within ${answerWithinMs} ms`
    const timer = setTimeout(() => fail(silence), answerWithinMs)
    const read = (chunk: Buffer) => {
      answer += chunk.toString('latin1')
      if (!answer.includes('\r\n\r\n')) return
      clearTimeout(timer)
      socket.off('data', read).off('close', closed)
      const status = Number(answer.slice(9, 12))
      if (status === 302 && !socket.destroyed) door.idle.push(socket)
      else socket.destroy()
      resolve(status)
    }
    socket.on('data', read).on('close', closed)
    socket.write(request)
  })
}

function open(door: Door): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, door.address)
    const fail = () => {
      clearTimeout(timer)
      socket.destroy()
      reject(new Unreachable(`${door.address} accepts no connection`))
    }
    const timer = setTimeout(fail, connectWithinMs)
    socket.setNoDelay(true).once('error', fail)
    socket.once('connect', () => {
      clearTimeout(timer)
      // The following close event reports the error.
      socket.off('error', fail).on('error', () => {})
      socket.on('close', () => {
        door.idle = door.idle.filter((other) => other !== socket)
      })
      resolve(socket)
    })
  })
}
