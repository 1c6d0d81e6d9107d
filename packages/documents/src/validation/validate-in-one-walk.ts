import {
  assertValidSchema,
  type ASTNode,
  type ASTVisitor,
  type GraphQLError,
  isExecutableDefinitionNode,
  Kind,
  KnownDirectivesRule,
  KnownTypeNamesRule,
  specifiedRules,
  UniqueDirectivesPerLocationRule,
  validate,
  type ValidationContext,
  type ValidationRule,
  versionInfo,
} from 'graphql'
import { Walk } from './walk.ts'
import { WalkContext } from './walk-context.ts'

/** graphql 17 tells those who trace it of each validation. */
const isOwnWay = versionInfo.major > 16
/** As many errors as graphql's own gives at most by default. */
const MAX_ERRORS = 100

/**
 * graphql's `validate`, to the same errors in the same order, with all rules in one walk. Where it is asked for more, ends
 * early, or the document defines types, which no rule finds valid, graphql's own has the word.
 */
export const validateInOneWalk: typeof validate = (
  schema,
  document,
  rules = specifiedRules,
  options,
  typeInfo,
) => {
  const byGraphQL = (): readonly GraphQLError[] => validate(schema, document, rules, options, typeInfo)
  const byOneWalk = (): readonly GraphQLError[] => {
    assertValidSchema(schema)
    const most = options?.maxErrors ?? MAX_ERRORS
    const errors: GraphQLError[] = []
    const report = (error: GraphQLError): void => {
      if (errors.length >= most) throw error
      errors.push(error)
    }
    const context = new WalkContext(schema, document, report, options?.hideSuggestions ?? false)
    const visitors = rules.map((rule) => visitorOf(rule, context))
    new Walk(visitors, context).run(document)
    return errors
  }
  const isForGraphQL = isOwnWay || typeInfo || !document.definitions.every(isExecutableDefinitionNode)
  const { stackTraceLimit } = Error
  try {
    // An error that is kept would keep the walk with all its rules, of which its stack is: some 25 kB.
    Error.stackTraceLimit = 0
    return isForGraphQL ? byGraphQL() : byOneWalk()
  } catch {
    Error.stackTraceLimit = stackTraceLimit
    return byGraphQL()
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

/**
 * Rules of graphql's that read all of the schema before they look at a node, and the nodes that they may have something to
 * say of: where there are none, they are not made.
 */
interface Seldom {
  readonly kinds: readonly string[]
  concerns(node: ASTNode, context: ValidationContext): boolean
}

const SELDOM = new Map<ValidationRule, Seldom>([
  [
    KnownTypeNamesRule,
    {
      kinds: [Kind.NAMED_TYPE],
      concerns: (node, context) =>
        node.kind === Kind.NAMED_TYPE && !context.getSchema().getType(node.name.value),
    },
  ],
  [KnownDirectivesRule, { kinds: [Kind.DIRECTIVE], concerns: () => true }],
  [
    UniqueDirectivesPerLocationRule,
    {
      kinds: [
        Kind.OPERATION_DEFINITION,
        Kind.VARIABLE_DEFINITION,
        Kind.FIELD,
        Kind.FRAGMENT_SPREAD,
        Kind.INLINE_FRAGMENT,
        Kind.FRAGMENT_DEFINITION,
      ],
      concerns: (node) => 'directives' in node && (node.directives?.length ?? 0) > 0,
    },
  ],
])

type Enter = (this: ASTVisitor, node: ASTNode, ...others: readonly unknown[]) => unknown

function visitorOf(rule: ValidationRule, context: ValidationContext): ASTVisitor {
  const seldom = SELDOM.get(rule)
  if (!seldom) return rule(context)
  let visitor: ASTVisitor | undefined
  const enter: Enter = (node, ...others) => {
    if (!seldom.concerns(node, context)) return undefined
    visitor ??= rule(context)
    const member = (Reflect.get(visitor, node.kind) ?? Reflect.get(visitor, 'enter')) as Enter
    return member.call(visitor, node, ...others)
  }
  const standIn: Record<string, Enter> = {}
  for (const kind of seldom.kinds) standIn[kind] = enter
  return standIn as ASTVisitor
}
