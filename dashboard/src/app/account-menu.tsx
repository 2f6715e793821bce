import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { CircleUser } from 'lucide-react'
import { Menu, MenuChoice, MenuChoices, MenuContent, MenuItem, MenuLabel, MenuLine, MenuTrigger } from '../ui/menu.tsx'
import { toast } from '../ui/toast.tsx'
import { useCommands } from './commands.ts'
import { languages } from './languages.ts'
import { usePreferences, useSetPreferences } from './preferences.ts'
import { type Theme, themes } from './theme.ts'
import { useUser } from './user.ts'

export const themeNames: Record<Theme, MessageDescriptor> = {
  system: msg`As the system`,
  light: msg`Light`,
  dark: msg`Dark`,
}

/** What belongs to the person and not to the workspace: account, theme, language, signing out. */
export function AccountMenu() {
  const { t } = useLingui()
  const preferences = usePreferences()
  const user = useUser()
  const set = useSetPreferences()
  const choose = (patch: Parameters<typeof set>[0]) => {
    set(patch).catch((error: Error) => toast({ title: t`This was not saved`, detail: error.message, kind: 'harm' }))
  }
  useCommands(
    themes.map((theme) => ({
      id: `theme.${theme}`,
      name: t(themeNames[theme]),
      group: t`Theme`,
      isSetting: true,
      run: () => choose({ theme }),
    })),
  )
  const languageNames = { browser: t`As the browser`, ...languages }
  return (
    <Menu>
      <MenuTrigger
        aria-label={user ? t`Account: ${user.name || user.email}` : t`Account`}
        className="flex items-center gap-2.5 rounded-md px-2 text-sm text-muted hover:bg-hover hover:text-ink max-md:size-11 max-md:justify-center md:h-8 md:w-full"
      >
        <CircleUser size={16} strokeWidth={1.75} aria-hidden />
        <bdi className="min-w-0 truncate max-md:hidden">{user?.name || user?.email || t`Account`}</bdi>
      </MenuTrigger>
      <MenuContent align="end" side="bottom">
        {user && (
          <p className="max-w-64 px-2 pt-1 text-sm wrap-anywhere">
            <bdi className="line-clamp-2 font-medium">{user.name}</bdi>
            <bdi className="line-clamp-2 text-xs text-muted">{user.email}</bdi>
          </p>
        )}
        <MenuLabel>
          <Trans>Theme</Trans>
        </MenuLabel>
        <MenuChoices value={preferences?.theme ?? ''} onValueChange={(value) => choose({ theme: value as Theme })}>
          {themes.map((name) => (
            <MenuChoice key={name} value={name}>
              {t(themeNames[name])}
            </MenuChoice>
          ))}
        </MenuChoices>
        <MenuLabel>
          <Trans>Language</Trans>
        </MenuLabel>
        <MenuChoices
          value={preferences?.language ?? ''}
          onValueChange={(value) => choose({ language: value as keyof typeof languageNames })}
        >
          {Object.entries(languageNames).map(([language, name]) => (
            <MenuChoice key={language} value={language} {...(language in languages && { lang: language })}>
              {name}
            </MenuChoice>
          ))}
        </MenuChoices>
        <MenuLine />
        <MenuItem asChild>
          <Link from="/$workspace" to="/$workspace/settings/account">
            <Trans>Your account</Trans>
          </Link>
        </MenuItem>
        {user?.operator && (
          <MenuItem asChild>
            <Link to="/_operator">
              <Trans>Installation</Trans>
            </Link>
          </MenuItem>
        )}
        <MenuItem onSelect={signOut}>
          <Trans>Sign out</Trans>
        </MenuItem>
      </MenuContent>
    </Menu>
  )
}

/** Signs out by the form of the server's own pages. */
function signOut(): void {
  const form = document.createElement('form')
  Object.assign(form, { method: 'post', action: '/sign-out' })
  document.body.append(form)
  form.submit()
}
