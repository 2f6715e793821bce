import type { Basis } from './basis.ts'
import { listCautions } from './cautions.ts'
import { checkDemand, type Demand } from './demand.ts'
import { type Disk, listDisks } from './disks.ts'
import { type Driver, listDrivers } from './drivers.ts'
import { fitsOne, listMachines, type Machine } from './machines.ts'
import { listSettings } from './settings.ts'

export type Sizing = {
  demand: Demand
  peakClicksPerSecond: number
  layout: 'one' | 'separate'
  machines: Machine[]
  disks: Disk[]
  drivers: Driver[]
  settings: Record<string, string>
  cautions: string[]
}

/** Machines, disks and cost drivers for a demand. Rounds up everywhere. */
export function calculateSizing(demand: Demand, basis: Basis): Sizing {
  checkDemand(demand)
  const isOne = fitsOne(demand, basis, listDisks(demand, basis, true))
  const disks = listDisks(demand, basis, isOne)
  const machines = listMachines(demand, basis, disks, isOne)
  const settings = listSettings(demand, machines, disks)
  const peakClicksPerSecond = Math.ceil((demand.clicksPerDay / 86_400) * demand.peakFactor)
  return {
    demand,
    peakClicksPerSecond,
    layout: isOne ? 'one' : 'separate',
    machines,
    disks,
    drivers: listDrivers(demand, basis, { machines, disks, isOne }),
    settings,
    cautions: listCautions(demand, basis, { peakClicksPerSecond, machines, disks, settings, isOne }),
  }
}
