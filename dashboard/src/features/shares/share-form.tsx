import { Trans } from '@lingui/react/macro'
import { useRef, useState } from 'react'
import { useChange } from '../../app/queries.ts'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { localTime } from '../analytics/days.ts'
import { useWorkspaceSettings } from '../links/queries.ts'
import { ShareFields } from './share-fields.tsx'
import { isComplete, readValues, type Share, type ShareSubject, writeValues } from './share-values.ts'

type Props = { share: Share; subject?: undefined } | { subject: ShareSubject; share?: undefined }

/** Creates a public page, or changes one; `onClose` hears whether it was saved. */
export function ShareForm({ share, subject, onClose }: Props & { onClose(isSaved: boolean): void }) {
  const { timeZone } = useWorkspaceSettings()
  const create = useChange('createShare', ['listShares'])
  const update = useChange('updateShare', ['listShares'])
  const [values, setValues] = useState(() => readValues(share, timeZone))
  const isSaved = useRef(false)
  const submit = async () => {
    const body = writeValues(values, timeZone)
    if (share) await update.mutateAsync({ params: { id: share.id }, body })
    else await create.mutateAsync({ body: { ...subject, ...body } })
    isSaved.current = true
  }
  return (
    <FormDialog
      title={share ? <Trans>Edit page</Trans> : <Trans>Share statistics</Trans>}
      submit={share ? <Trans>Save page</Trans> : <Trans>Create page</Trans>}
      isReady={isComplete(values, share)}
      onSubmit={submit}
      onClose={() => onClose(isSaved.current)}
    >
      {!share && (
        <p className="text-sm text-muted">
          <Trans>
            Everybody with the address of the page sees clicks by day, country, device and source, without an account.
            Nobody can guess the address, and search engines do not list it.
          </Trans>
        </p>
      )}
      <ShareFields
        values={values}
        onChange={setValues}
        isProtected={share?.hasPassword ?? false}
        today={localTime(new Date(), timeZone).day}
      />
    </FormDialog>
  )
}
