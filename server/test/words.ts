import { type Node, parseSync, Visitor } from 'oxc-parser'

/** Words of our own for things that have an established name, given in the comment. */
const dialect = [
  ...['tell', 'tells', 'telling', 'told', 'news'], // publish, event
  ...['shelf', 'shelves'], // cache
  ...['hearing', 'hearsay'], // subscription, propagation
  ...['place', 'places', 'placed'], // location, cursor, position
  ...['hold', 'holds', 'held', 'holding', 'still'], // lock, locked
  ...['settle', 'settles', 'settled'], // resolve, finish
  ...['hungry'], // backlogged
  ...['question', 'questions'], // query
  ...['wanted'], // expected, subscribed
  ...['gone', 'away', 'anew'], // deleted, down, again
  ...['learn', 'learns', 'learned'], // load
  ...['peers'], // client address
  ...['standard', 'meaning'], // default, description
  ...['mend', 'mends', 'mended'], // repair
  ...['kept', 'narrow', 'narrowed'], // retained, resolved
]
const words = new Set(dialect)

/** Names that standards or libraries chose. */
const allowed = new Set([
  'allOf', // JSON Schema
  'anyOf', // JSON Schema
  'holdingPeriodDays', // the field's term for the days before a commission is due
  'oneOf', // JSON Schema
  'onSettled', // TanStack Query
  'questions', // dns-packet
  'holdingPeriods', // affiliate programs
  'holdingPeriodDays', // affiliate programs
  'holding_period_days',
])

export type Declared = { name: string; offset: number }

/** Returns the declared identifiers of a file that contain a word of `dialect` or end in `Of`. */
export function findDialect(path: string, text: string): Declared[] {
  return findDeclared(path, text).filter(({ name }) => !allowed.has(name) && isDialect(name))
}

function isDialect(name: string): boolean {
  const parts = splitWords(name)
  return (parts.length > 1 && parts.at(-1) === 'of') || parts.some((part) => words.has(part))
}

function splitWords(name: string): string[] {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[ _$]+/)
}

function findDeclared(path: string, text: string): Declared[] {
  const declared: Declared[] = []
  const add = (node: Node | null | undefined) => {
    for (const { name, start } of identifiersIn(node)) declared.push({ name, offset: start })
  }
  const addParameters = ({ id, params }: { id?: Node | null; params: Node[] }) => {
    add(id)
    for (const parameter of params) add(parameter)
  }
  const { program } = parseSync(path, text)
  new Visitor({
    VariableDeclarator: ({ id }) => add(id),
    FunctionDeclaration: addParameters,
    FunctionExpression: addParameters,
    ArrowFunctionExpression: addParameters,
    ClassDeclaration: ({ id }) => add(id),
    CatchClause: ({ param }) => add(param),
    TSTypeAliasDeclaration: ({ id }) => add(id),
    TSInterfaceDeclaration: ({ id }) => add(id),
    TSTypeParameter: ({ name }) => add(name),
    TSFunctionType: addParameters,
    TSPropertySignature: ({ key, computed }) => !computed && add(key),
    TSMethodSignature: ({ key, params, computed }) => {
      if (!computed) add(key)
      for (const parameter of params) add(parameter)
    },
    PropertyDefinition: ({ key, computed }) => !computed && add(key),
    MethodDefinition: ({ key, computed }) => !computed && add(key),
    ObjectExpression: ({ properties }) => {
      for (const part of properties) if (part.type === 'Property' && !part.computed && !part.shorthand) add(part.key)
    },
    ImportSpecifier: ({ local, imported }) => local.start !== imported.start && add(local),
  }).visit(program)
  return declared
}

/** Returns the names that a binding pattern declares. */
function identifiersIn(node: Node | null | undefined): { name: string; start: number }[] {
  switch (node?.type) {
    case 'Identifier':
      return [node]
    case 'ObjectPattern':
      return node.properties.flatMap((part) => identifiersIn(part.type === 'RestElement' ? part : part.value))
    case 'ArrayPattern':
      return node.elements.flatMap((element) => identifiersIn(element))
    case 'AssignmentPattern':
      return identifiersIn(node.left)
    case 'RestElement':
      return identifiersIn(node.argument)
    default:
      return []
  }
}
