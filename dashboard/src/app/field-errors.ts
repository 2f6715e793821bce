/** Which field an error of the server is about: the message begins with the field's name in backticks. */
export function findErrorField<Name extends string>(message: string, names: readonly Name[]): Name | undefined {
  const named = /^`(\w+)/.exec(message)?.[1]
  return names.find((name) => name === named)
}
