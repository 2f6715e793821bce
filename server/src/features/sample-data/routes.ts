import * as contract from '@tributary/contract/sample-data'
import { type Route, route } from '../../platform/http.ts'
import { createSampleData, deleteSampleData, getSampleData, type Removal } from './service.ts'

export function sampleDataRoutes(removal: Removal): Route[] {
  return [
    route(contract.getSampleData, (ctx) => getSampleData(ctx)),
    route(contract.createSampleData, (ctx) => createSampleData(ctx)),
    route(contract.deleteSampleData, (ctx) => deleteSampleData(ctx, removal)),
  ]
}
