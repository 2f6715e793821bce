import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { ErrorMessage } from '../../app/errors.tsx'
import { useOperation } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { Skeleton } from '../../ui/skeleton.tsx'
import { OpenView } from './open-view.tsx'
import { SaveView } from './save-view.tsx'
import { isSameQuery, type ViewsProps } from './view-query.ts'

/** The saved views of a screen: opens one, saves what is shown as a new one, changes and deletes the open one. */
export function ViewsList({ screen, query, viewId, onOpen, onLeave }: ViewsProps) {
  const { t } = useLingui()
  const { can } = useWorkspace()
  const { data: views, error, refetch } = useOperation('listViews', { query: { screen, pageSize: 100 } })
  const [isSaving, setSaving] = useState(false)
  if (error && !views) return <ErrorMessage error={error} retry={() => void refetch()} />
  if (!views) return <Skeleton className="m-4 w-40" />
  const open = views.find(({ id }) => id === viewId)
  const isChanged = open !== undefined && !isSameQuery(open.query, query)
  const groups = [
    { name: t`Yours`, views: views.filter(({ visibility }) => visibility === 'personal') },
    { name: t`Shared`, views: views.filter(({ visibility }) => visibility === 'shared') },
  ]
  const isForm = isSaving || (views.length === 0 && can('views.write'))
  return (
    <div className="flex max-h-[70vh] w-72 max-w-full flex-col overflow-y-auto p-1">
      {groups.map(
        (group) =>
          group.views.length > 0 && (
            <section key={group.name} aria-label={group.name}>
              <h3 className="px-2 pt-2 pb-1 text-xs text-faint">{group.name}</h3>
              {group.views.map((view) => (
                <button
                  key={view.id}
                  type="button"
                  aria-current={view.id === viewId || undefined}
                  onClick={() => onOpen(view)}
                  className="flex min-h-8 w-full items-center rounded-sm px-2 text-left text-sm hover:bg-hover focus-visible:bg-hover aria-[current]:font-medium max-md:min-h-11"
                >
                  <bdi className="truncate">{view.name}</bdi>
                </button>
              ))}
            </section>
          ),
      )}
      {views.length === 0 && (
        <p className="px-2 py-2 text-sm text-muted">
          <Trans>A view keeps filters, order, period and columns under a name.</Trans>
        </p>
      )}
      {can('views.write') && (
        <div className="mt-1 border-t pt-1">
          {open && !isForm && <OpenView view={open} query={query} isChanged={isChanged} onLeave={onLeave} />}
          {isForm ? (
            <SaveView screen={screen} query={query} onSaved={onOpen} onCancel={() => setSaving(false)} />
          ) : (
            <button
              type="button"
              onClick={() => setSaving(true)}
              className="flex min-h-8 w-full items-center rounded-sm px-2 text-left text-sm hover:bg-hover max-md:min-h-11"
            >
              <Trans>Save as a new view</Trans>
            </button>
          )}
        </div>
      )}
    </div>
  )
}
