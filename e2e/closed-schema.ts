import { z } from 'zod/v3'

/**
 * Makes a schema of the public SDK strict at every depth: it refuses keys that the SDK does not know, and missing keys
 * that the SDK would fill with a default.
 */
export function closeSchema(schema: z.ZodTypeAny): z.ZodTypeAny {
  if (schema instanceof z.ZodObject) {
    const shape = Object.entries(schema.shape as z.ZodRawShape).map(([name, field]) => [name, closeSchema(field)])
    return z.strictObject(Object.fromEntries(shape))
  }
  if (schema instanceof z.ZodArray) return z.array(closeSchema(schema.element))
  if (schema instanceof z.ZodNullable) return closeSchema(schema.unwrap()).nullable()
  if (schema instanceof z.ZodOptional) return closeSchema(schema.unwrap()).optional()
  if (schema instanceof z.ZodDefault) return closeSchema(schema.removeDefault())
  if (schema instanceof z.ZodLazy) return closeSchema(schema.schema)
  if (schema instanceof z.ZodEffects) return closeSchema(schema.innerType())
  if (schema instanceof z.ZodUnion) {
    const [first, second, ...others] = (schema.options as z.ZodTypeAny[]).map(closeSchema)
    return first && second ? z.union([first, second, ...others]) : schema
  }
  return schema
}
