import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { Ellipsis } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { useWorkspace } from '../../app/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Time } from '../../ui/figures.tsx'
import { Menu, MenuContent, MenuItem, MenuLine, MenuTrigger } from '../../ui/menu.tsx'
import { useWorkspaceSettings } from '../links/queries.ts'
import { isActive, type Token, type TokenKind } from './token-values.ts'

const TokenDrawer = lazy(async () => ({ default: (await import('./token-drawer.tsx')).TokenDrawer }))
const RotateToken = lazy(async () => ({ default: (await import('./rotate-token.tsx')).RotateToken }))
const RevokeToken = lazy(async () => ({ default: (await import('./revoke-token.tsx')).RevokeToken }))

const kindNames: Record<TokenKind, MessageDescriptor> = {
  personal: msg`personal`,
  machine: msg`machine`,
  publishable: msg`publishable`,
}

/** One key: what it may do, until when, when and from where it was used. */
export function TokenRow({ token }: { token: Token }) {
  const { t } = useLingui()
  const { can } = useWorkspace()
  const [open, setOpen] = useState<'edit' | 'rotate' | 'revoke'>()
  const close = () => setOpen(undefined)
  const isLive = isActive(token)
  const scopes = token.scopes.join(', ')
  return (
    <li className="flex items-start gap-x-4 gap-y-1 border-b px-3.5 py-2 text-sm last:border-b-0">
      <div
        className={`grid min-w-0 flex-1 gap-x-4 gap-y-1 md:grid-cols-[minmax(0,3fr)_minmax(0,2fr)] ${isLive ? '' : 'text-muted'}`}
      >
        <div className="min-w-0">
          <bdi className="block truncate font-medium">{token.name}</bdi>
          <p className="truncate text-xs text-muted">
            {t(kindNames[token.kind])} ·{' '}
            <code className="font-mono">
              {token.prefix}…{token.lastFour}
            </code>
          </p>
          <p className="truncate text-xs text-muted" title={scopes}>
            {token.allowedHostnames ? token.allowedHostnames.join(', ') : scopes}
          </p>
        </div>
        <p className="text-xs text-muted md:text-right">
          <Use token={token} />
          <br />
          <End token={token} />
        </p>
      </div>
      {isLive && can('tokens.write') && (
        <Menu>
          <MenuTrigger asChild>
            <Button kind="quiet" size="icon" className="size-7!" aria-label={t`Actions for ${token.name}`}>
              <Ellipsis size={16} aria-hidden />
            </Button>
          </MenuTrigger>
          <MenuContent align="end">
            <MenuItem onSelect={() => setOpen('edit')}>
              <Trans>Edit</Trans>
            </MenuItem>
            <MenuItem onSelect={() => setOpen('rotate')}>
              <Trans>Rotate</Trans>
            </MenuItem>
            <MenuLine />
            <MenuItem className="text-harm" onSelect={() => setOpen('revoke')}>
              <Trans>Revoke</Trans>
            </MenuItem>
          </MenuContent>
        </Menu>
      )}
      <Suspense>
        {open === 'edit' && <TokenDrawer token={token} onClose={close} />}
        {open === 'rotate' && <RotateToken token={token} onClose={close} />}
        {open === 'revoke' && <RevokeToken token={token} onClose={close} />}
      </Suspense>
    </li>
  )
}

function Use({ token: { lastUsedAt, lastUsedFrom } }: { token: Token }) {
  const { timeZone } = useWorkspaceSettings()
  if (lastUsedAt === null) return <Trans>never used</Trans>
  const time = <Time at={lastUsedAt} timeZone={timeZone} />
  if (lastUsedFrom === null) return <Trans>used {time}</Trans>
  return (
    <Trans>
      used {time} from {lastUsedFrom}
    </Trans>
  )
}

function End({ token }: { token: Token }) {
  const { timeZone } = useWorkspaceSettings()
  const { revokedAt, expiresAt } = token
  if (revokedAt !== null)
    return (
      <Trans>
        revoked <Time at={revokedAt} timeZone={timeZone} />
      </Trans>
    )
  if (expiresAt === null) return <Trans>does not expire</Trans>
  const time = <Time at={expiresAt} timeZone={timeZone} />
  return isActive(token) ? <Trans>expires {time}</Trans> : <Trans>expired {time}</Trans>
}
