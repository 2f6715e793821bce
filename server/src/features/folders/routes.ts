import * as contract from '@tributary/contract/folders'
import { route } from '../../platform/http.ts'
import { createFolder, deleteFolder, listFolders, updateFolder } from './service.ts'

export const foldersRoutes = [
  route(contract.listFolders, (ctx, { query }) => listFolders(ctx, query)),
  route(contract.createFolder, (ctx, { body }) => createFolder(ctx, body)),
  route(contract.updateFolder, (ctx, { params, body }) => updateFolder(ctx, params.id, body)),
  route(contract.deleteFolder, (ctx, { params }) => deleteFolder(ctx, params.id)),
]
