/** Which field an error of the server is about: the message begins with the field's name in backticks. */
export function findErrorField<Name extends string>(message: string, names: readonly Name[]): Name | undefined {
  const named = /^`(\w+)/.exec(message)?.[1]
  return names.find((name) => name === named)
}

/** The message below its field, without the name that it begins with: Must be a host name such as go.example.com. */
export function fieldMessage(message: string): string {
  const text = message.replace(/^`[^`]*` (in the \w+ )?/, '')
  return text.charAt(0).toUpperCase() + text.slice(1)
}
