import * as contract from '@tributary/contract/rewards'
import { route } from '../../platform/http.ts'
import { createReward, deleteReward, getReward, listRewards, listRewardVersions, updateReward } from './manage.ts'
import { simulateReward } from './simulate.ts'

export const rewardsRoutes = [
  route(contract.listRewards, (ctx, { query }) => listRewards(ctx, query)),
  route(contract.createReward, (ctx, { body }) => createReward(ctx, body)),
  route(contract.getReward, (ctx, { params }) => getReward(ctx, params.id)),
  route(contract.updateReward, (ctx, { params, body }) => updateReward(ctx, params.id, body)),
  route(contract.deleteReward, (ctx, { params }) => deleteReward(ctx, params.id)),
  route(contract.listRewardVersions, (ctx, { params, query }) => listRewardVersions(ctx, params.id, query)),
  route(contract.simulateReward, (ctx, { body }) => simulateReward(ctx, body)),
]
