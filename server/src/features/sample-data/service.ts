import type { SampleData } from '@tributary/contract/sample-data'
import { type Ctx, requireUserId } from '../../platform/context.ts'
import { randomText } from '../../platform/ids.ts'
import { transaction } from '../../platform/postgres.ts'
import { reportChange } from '../../platform/recording.ts'
import { addMember } from '../members/service.ts'
import { createWorkspace, findWorkspace, isErasing, lockResource, requireWorkspace } from '../workspaces/service.ts'
import { insertSample, type SampleRow, selectSample, updateStep } from './store.ts'

/** Deletes a workspace as its owner would, and a job erases its data. The role passes it in. */
export type Removal = { deleteWorkspace(ctx: Ctx, idOrSlug: string, confirmed: string): Promise<unknown> }

const none: SampleData = { status: 'none', progress: 1, workspaceId: null, slug: null }
const progress = { new: 0, linked: 0.3, sent: 0.7, ready: 1, deleted: 1 } as const

export async function getSampleData(ctx: Ctx): Promise<SampleData> {
  return present(ctx, await selectSample(ctx.db, ctx.workspaceId))
}

/** Creates the workspace of the sample data, which a job fills, or lets the caller join the one that exists. */
export async function createSampleData(ctx: Ctx): Promise<SampleData> {
  const userId = requireUserId(ctx.actor)
  return transaction(ctx, async (ctx) => {
    await lockResource(ctx, ctx.workspaceId, 'sample data')
    const row = await findLive(ctx)
    const sample = row ?? (await startSample(ctx))
    await addMember({ db: ctx.db, workspaceId: sample.sample_workspace_id }, userId, 'owner')
    reportChange(ctx, { id: sample.sample_workspace_id, after: { slug: sample.slug } })
    return present(ctx, sample)
  })
}

export async function deleteSampleData(ctx: Ctx, removal: Removal): Promise<SampleData> {
  return transaction(ctx, async (ctx) => {
    await lockResource(ctx, ctx.workspaceId, 'sample data')
    const row = await findLive(ctx)
    reportChange(ctx, { id: row?.sample_workspace_id ?? 'none', before: row ? { slug: row.slug } : {} })
    if (row) {
      const workspaceId = row.sample_workspace_id
      const { slug } = await requireWorkspace(ctx, workspaceId)
      await removal.deleteWorkspace({ ...ctx, workspaceId, record: undefined }, workspaceId, slug)
      await updateStep(ctx.db, ctx.workspaceId, row.sample_workspace_id, 'deleted')
    }
    return present(ctx, await selectSample(ctx.db, ctx.workspaceId))
  })
}

async function startSample(ctx: Ctx): Promise<SampleRow> {
  const { name, plan } = await requireWorkspace(ctx, ctx.workspaceId)
  const slug = `sample-${randomText(10).toLowerCase()}`
  const created = await createWorkspace(ctx, { name: `Sample data (${name})`.slice(0, 64), slug, plan })
  return insertSample(ctx.db, ctx.workspaceId, { sampleWorkspaceId: created.id, slug })
}

/** The sample data, unless its workspace is deleted: here, or by one of its owners. */
async function findLive(ctx: Ctx): Promise<SampleRow | undefined> {
  const row = await selectSample(ctx.db, ctx.workspaceId)
  return row && row.step !== 'deleted' && (await findWorkspace(ctx, row.sample_workspace_id)) ? row : undefined
}

async function present(ctx: Ctx, row: SampleRow | undefined): Promise<SampleData> {
  if (!row) return none
  const { sample_workspace_id: workspaceId, slug, step } = row
  const isLive = step !== 'deleted' && (await findWorkspace(ctx, workspaceId)) !== undefined
  if (isLive) return { status: step === 'ready' ? 'ready' : 'creating', progress: progress[step], workspaceId, slug }
  return (await isErasing(ctx, workspaceId)) ? { status: 'deleting', progress: 0, workspaceId, slug } : none
}
