import { useLingui } from '@lingui/react/macro'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Preferences, PreferencesPatch } from '@tributary/contract/preferences'
import { useEffect } from 'react'
import { toast } from '../ui/toast.tsx'
import { call } from './call.ts'
import { applyLanguage } from './languages.ts'
import { operationQuery, useOperation } from './queries.ts'
import { applyTheme } from './theme.ts'
import { useWorkspace } from './workspace.ts'

/** What the person chose in this workspace; undefined until the server has answered. */
export function usePreferences(): Preferences | undefined {
  return useOperation('getPreferences', {}, { staleTime: 300_000 }).data
}

/** Returns a function that changes preferences at once, and then on the server, one change after the other. */
export function useSetPreferences(): (patch: PreferencesPatch) => Promise<void> {
  const { slug } = useWorkspace()
  const client = useQueryClient()
  const { queryKey } = operationQuery(slug, 'getPreferences')
  const mutationKey = ['updatePreferences', slug]
  const { mutateAsync } = useMutation({
    mutationKey,
    scope: { id: mutationKey.join(' ') },
    networkMode: 'always',
    mutationFn: (patch: PreferencesPatch) => call('updatePreferences', { body: patch }, slug),
    onMutate: (patch) => {
      const before = client.getQueryData(queryKey)
      if (before) client.setQueryData(queryKey, mergePreferences(before, patch))
      return before
    },
    // The server's answer wins, but an earlier one does not undo a later change that is still on its way.
    onSuccess: (saved) => {
      if (client.isMutating({ mutationKey }) === 1) client.setQueryData(queryKey, saved)
    },
    onError: (_error, _patch, before) => void client.setQueryData(queryKey, before),
  })
  return async (patch) => void (await mutateAsync(patch))
}

/** The same, and says so when they could not be saved. */
export function useSavePreferences(): (patch: PreferencesPatch) => void {
  const { t } = useLingui()
  const set = useSetPreferences()
  return (patch) =>
    void set(patch).catch((error: Error) =>
      toast({ title: t`This was not saved`, detail: error.message, kind: 'harm' }),
    )
}

/** Shows theme and language as chosen, also on a device where they were chosen elsewhere. */
export function useAppearance(): void {
  const { theme, language } = usePreferences() ?? {}
  useEffect(() => {
    if (theme) applyTheme(theme)
  }, [theme])
  useEffect(() => {
    if (language) void applyLanguage(language)
  }, [language])
}

function mergePreferences(before: Preferences, { screens, builder, ...rest }: PreferencesPatch): Preferences {
  const names = Object.keys(before.screens) as (keyof Preferences['screens'])[]
  return {
    ...before,
    ...rest,
    screens: Object.fromEntries(
      names.map((name) => [name, { ...before.screens[name], ...screens?.[name] }]),
    ) as Preferences['screens'],
    builder: { ...before.builder, ...builder },
  }
}
