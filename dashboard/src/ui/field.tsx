import { type ComponentProps, createContext, type ReactNode, use, useId } from 'react'

const FieldContext = createContext<{ id: string; describedBy?: string; isInvalid: boolean } | undefined>(undefined)

type Props = { label: ReactNode; hint?: ReactNode; error?: ReactNode; className?: string; children: ReactNode }

/** A label with its control, and below it what is wrong or a hint. */
export function Field({ label, hint, error, className = '', children }: Props) {
  const id = useId()
  const describedBy = error || hint ? `${id}-hint` : undefined
  return (
    <div className={`flex min-w-0 flex-col gap-1 ${className}`}>
      <label htmlFor={id} className="text-xs text-muted">
        {label}
      </label>
      <FieldContext value={{ id, describedBy, isInvalid: Boolean(error) }}>{children}</FieldContext>
      {describedBy && (
        <div
          id={describedBy}
          role={error ? 'alert' : undefined}
          className={`text-xs wrap-anywhere ${error ? 'text-harm' : 'text-muted'}`}
        >
          {error || hint}
        </div>
      )}
    </div>
  )
}

/** What a control needs to belong to its field. */
export function useField() {
  const field = use(FieldContext)
  return {
    id: field?.id,
    'aria-describedby': field?.describedBy,
    'aria-invalid': field?.isInvalid || undefined,
  }
}

export const control =
  'w-full min-w-0 rounded-md border border-line-strong bg-surface px-2.5 text-sm placeholder:text-faint aria-invalid:border-harm disabled:opacity-60 max-md:text-base'

export function TextInput({ className = '', ...rest }: ComponentProps<'input'>) {
  return <input {...useField()} className={`h-8 max-md:h-11 ${control} ${className}`} {...rest} />
}

export function TextArea({ className = '', ...rest }: ComponentProps<'textarea'>) {
  return <textarea {...useField()} className={`min-h-16 py-1.5 ${control} ${className}`} {...rest} />
}
