import * as contract from '@tributary/contract/programs'
import { route } from '../../platform/http.ts'
import { createProgram, getProgram, listPrograms, updateProgram } from './service.ts'

export const programsRoutes = [
  route(contract.listPrograms, (ctx, { query }) => listPrograms(ctx, query)),
  route(contract.getProgram, (ctx, { params }) => getProgram(ctx, params.id)),
  route(contract.createProgram, (ctx, { body }) => createProgram(ctx, body)),
  route(contract.updateProgram, (ctx, { params, body }) => updateProgram(ctx, params.id, body)),
]
