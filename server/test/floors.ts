import { importChecks } from './floors/imports.ts'
import { shapeChecks } from './floors/shape.ts'
import { lineAt } from './floors/source.ts'
import { tableChecks } from './floors/tables.ts'
import { type Check, readTree } from './floors/tree.ts'

const checks = { ...importChecks, ...tableChecks, ...shapeChecks }

export type Rule = keyof typeof checks

export interface Violation {
  rule: Rule
  file: string
  line?: number
  message: string
}

export const rules = Object.keys(checks) as Rule[]

/** Checks the project's files (path from the root -> content) against its layout rules. */
export function checkFloors(files: Map<string, string>): Violation[] {
  const tree = readTree(files)
  return rules.flatMap((rule) => {
    const check: Check = checks[rule]
    return check(tree).map(({ source, offset, message }) => ({
      rule,
      file: source.path,
      ...(offset !== undefined && { line: lineAt(source, offset) }),
      message,
    }))
  })
}
