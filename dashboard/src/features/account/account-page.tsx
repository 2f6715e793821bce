import { Trans, useLingui } from '@lingui/react/macro'
import { themeNames } from '../../app/account-menu.tsx'
import { languages } from '../../app/languages.ts'
import { usePreferences, useSetPreferences } from '../../app/preferences.ts'
import { themes } from '../../app/theme.ts'
import { useUser } from '../../app/user.ts'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { Panel } from '../../ui/page.tsx'
import { Section } from '../../ui/section.tsx'
import { Select } from '../../ui/select.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { toast } from '../../ui/toast.tsx'

/** What belongs to the person: name and sign-in on the server's own pages, appearance and language here. */
export function AccountPage() {
  const user = useUser()
  return (
    <>
      <Section title={<Trans>Profile and sign-in</Trans>}>
        <Panel className="max-w-180 text-sm">
          <div className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b px-4 py-3">
            {user ? (
              <p className="min-w-48 flex-1">
                <bdi className="block font-medium wrap-anywhere">{user.name}</bdi>
                <bdi className="block text-muted wrap-anywhere">{user.email}</bdi>
              </p>
            ) : (
              <Skeleton className="w-48" />
            )}
            <Button asChild>
              <a href="/account">
                <Trans>Change profile and sign-in</Trans>
              </a>
            </Button>
          </div>
          <p className="px-4 py-3 text-muted">
            <Trans>
              There you change your name, e-mail address and password, add passkeys and a second factor, end sessions on
              other devices, and delete your account.
            </Trans>
          </p>
        </Panel>
      </Section>
      <AppearanceSection />
    </>
  )
}

function AppearanceSection() {
  const { t } = useLingui()
  const preferences = usePreferences()
  const set = useSetPreferences()
  const choose = (patch: Parameters<typeof set>[0]) => {
    set(patch).catch((error: Error) => toast({ kind: 'harm', title: error.message }))
  }
  const languageNames = { browser: t`As the browser`, ...languages }
  return (
    <Section
      title={<Trans>Appearance and language</Trans>}
      description={<Trans>For you alone, on all your devices.</Trans>}
    >
      <Panel className="grid max-w-180 gap-4 p-4 md:grid-cols-2">
        <Field label={<Trans>Theme</Trans>}>
          <Select
            value={preferences?.theme ?? 'system'}
            disabled={!preferences}
            options={themes.map((value) => ({ value, name: t(themeNames[value]) }))}
            onChoose={(theme) => choose({ theme: theme as (typeof themes)[number] })}
          />
        </Field>
        <Field label={<Trans>Language</Trans>}>
          <Select
            value={preferences?.language ?? 'browser'}
            disabled={!preferences}
            options={Object.entries(languageNames).map(([value, name]) => ({ value, name }))}
            onChoose={(language) => choose({ language: language as keyof typeof languageNames })}
          />
        </Field>
      </Panel>
    </Section>
  )
}
