import { plural } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { Link as RouteLink } from '@tanstack/react-router'
import { Ellipsis } from 'lucide-react'
import { useWorkspace } from '../../app/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Kbd } from '../../ui/kbd.tsx'
import { Menu, MenuContent, MenuItem, MenuLine, MenuTrigger } from '../../ui/menu.tsx'
import { toast, toastError } from '../../ui/toast.tsx'
import { useWorkspaceSettings } from './queries.ts'
import { type LinksSearch, linksQuery } from './search.ts'

/** Pages that belong to the list, and its import and export. */
export function MoreMenu({ search }: { search: LinksSearch }) {
  const { t } = useLingui()
  const { slug, can } = useWorkspace()
  const { timeZone } = useWorkspaceSettings()
  const save = async () => {
    try {
      const { exportLinks } = await import('../imports/export-links.ts')
      const count = await exportLinks(linksQuery(search, timeZone), slug)
      toast({ title: t`Exported ${plural(count, { one: '# link', other: '# links' })}` })
    } catch (error) {
      toastError(error)
    }
  }
  return (
    <Menu>
      <MenuTrigger asChild>
        <Button size="icon" aria-label={t`More`}>
          <Ellipsis size={16} aria-hidden />
        </Button>
      </MenuTrigger>
      <MenuContent align="end">
        <MenuItem asChild>
          <RouteLink from="/$workspace" to="/$workspace/links/folders">
            <Trans>Folders</Trans>
          </RouteLink>
        </MenuItem>
        <MenuItem asChild>
          <RouteLink from="/$workspace" to="/$workspace/links/tags">
            <Trans>Tags</Trans>
          </RouteLink>
        </MenuItem>
        <MenuItem asChild>
          <RouteLink from="/$workspace" to="/$workspace/links/utm-templates">
            <Trans>UTM templates</Trans>
          </RouteLink>
        </MenuItem>
        <MenuLine />
        {can('links.write') && (
          <MenuItem asChild>
            <RouteLink from="/$workspace" to="/$workspace/links/import">
              <Trans>Import links</Trans>
            </RouteLink>
          </MenuItem>
        )}
        <MenuItem onSelect={() => void save()}>
          <Trans>Export as CSV</Trans>
        </MenuItem>
        <MenuLine />
        <MenuItem asChild>
          <RouteLink from="/$workspace" to="/$workspace/links/deleted">
            <span className="flex-1">
              <Trans>Recently deleted</Trans>
            </span>
            <Kbd>G</Kbd>
            <Kbd>R</Kbd>
          </RouteLink>
        </MenuItem>
      </MenuContent>
    </Menu>
  )
}
