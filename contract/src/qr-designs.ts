import { z } from 'zod'
import { operation } from './operation.ts'
import { qrLevels, qrMarkerShapes, qrShapes } from './qr.ts'

const hexColor = z.string().regex(/^#[0-9A-Fa-f]{6}$/)
const logo = z
  .string()
  .max(32_000)
  .nullable()
  .describe('Logo for the centre, a PNG or JPEG: an http(s) URL, or a base64 data URL of at most 32,000 characters.')
const label = z.string().max(100).nullable().describe('Text below the code, at most 30 characters, drawn in capitals.')
const fields = {
  shape: z.enum(qrShapes).describe('Shape of the modules.'),
  markerShape: z.enum(qrMarkerShapes).describe('Shape of the three markers in the corners.'),
  fgColor: hexColor.describe('Colour of the code: `#` and six hex digits.'),
  bgColor: hexColor.describe('Background colour, which must contrast with the others.'),
  markerColor: hexColor.nullable().describe('Colour of the markers; null for `fgColor`.'),
  level: z.enum(qrLevels).describe('Error correction level. With a logo it is always `H`.'),
  margin: z.number().int().min(0).max(20).describe('Quiet zone around the code, in modules.'),
  logo,
  label,
}

export const qrDesign = z.strictObject(fields).meta({ id: 'QrDesign' })
export type QrDesign = z.infer<typeof qrDesign>

export const defaultQrDesign: QrDesign = {
  ...{ shape: 'square', markerShape: 'square', fgColor: '#000000', bgColor: '#ffffff', markerColor: null },
  ...{ level: 'L', margin: 2, logo: null, label: null },
}

const d = defaultQrDesign
export const newQrDesign = z
  .strictObject({
    shape: fields.shape.default(d.shape),
    markerShape: fields.markerShape.default(d.markerShape),
    fgColor: fields.fgColor.default(d.fgColor),
    bgColor: fields.bgColor.default(d.bgColor),
    markerColor: fields.markerColor.default(d.markerColor),
    level: fields.level.default(d.level),
    margin: fields.margin.default(d.margin),
    logo: fields.logo.default(d.logo),
    label: fields.label.default(d.label),
  })
  .meta({ id: 'NewQrDesign' })
export type NewQrDesign = z.output<typeof newQrDesign>

export const effectiveQrDesign = z
  .strictObject({
    design: qrDesign,
    source: z
      .enum(['link', 'domain', 'workspace', 'default'])
      .describe('Where the design is stored: the most specific one applies.'),
    scans: z
      .boolean()
      .describe('Whether a decoder could read a code that was drawn in this design when it was stored.'),
    qrCode: z.string().describe('URL of `GET /qr` that draws this design; add `format` and `size`.'),
  })
  .meta({ id: 'EffectiveQrDesign' })
export type EffectiveQrDesign = z.infer<typeof effectiveQrDesign>

const described = {
  get: 'Returns the design that applies: of the link, else of its domain, else of the workspace, else the default.',
  put: 'Replaces the design; omitted fields get their defaults. The code is drawn and decoded: `scans` is false if a decoder could not read it. Colours without enough contrast are refused.',
  delete: 'Deletes the design. Returns the one that applies now.',
}

const forLink = {
  path: '/links/{linkId}/qr',
  tag: 'QR codes',
  params: z.object({ linkId: z.string().describe('Id of the link, or its external id with the prefix `ext_`.') }),
  response: effectiveQrDesign,
} as const
const forDomain = {
  path: '/domains/{slug}/qr',
  tag: 'QR codes',
  params: z.object({ slug: z.string().describe('Host name of the domain.') }),
  response: effectiveQrDesign,
} as const
const forWorkspace = {
  path: '/workspaces/{idOrSlug}/qr',
  tag: 'QR codes',
  params: z.object({ idOrSlug: z.string().describe('Id or slug of the workspace.') }),
  response: effectiveQrDesign,
} as const

export const getLinkQrDesign = operation({
  ...forLink,
  ...{ id: 'getLinkQrDesign', method: 'get', scope: 'links.read' },
  ...{ summary: 'Retrieve the QR design of a link', description: described.get },
})
export const setLinkQrDesign = operation({
  ...forLink,
  ...{ id: 'setLinkQrDesign', method: 'put', scope: 'links.write', body: newQrDesign },
  ...{ summary: 'Set the QR design of a link', description: described.put },
})
export const deleteLinkQrDesign = operation({
  ...forLink,
  ...{ id: 'deleteLinkQrDesign', method: 'delete', scope: 'links.write' },
  ...{ summary: 'Delete the QR design of a link', description: described.delete },
})

export const getDomainQrDesign = operation({
  ...forDomain,
  ...{ id: 'getDomainQrDesign', method: 'get', scope: 'domains.read' },
  ...{ summary: 'Retrieve the QR design of a domain', description: described.get },
})
export const setDomainQrDesign = operation({
  ...forDomain,
  ...{ id: 'setDomainQrDesign', method: 'put', scope: 'domains.write', body: newQrDesign },
  ...{ summary: 'Set the QR design of a domain', description: described.put },
})
export const deleteDomainQrDesign = operation({
  ...forDomain,
  ...{ id: 'deleteDomainQrDesign', method: 'delete', scope: 'domains.write' },
  ...{ summary: 'Delete the QR design of a domain', description: described.delete },
})

export const getWorkspaceQrDesign = operation({
  ...forWorkspace,
  ...{ id: 'getWorkspaceQrDesign', method: 'get', scope: 'workspaces.read' },
  ...{ summary: 'Retrieve the QR design of a workspace', description: described.get },
})
export const setWorkspaceQrDesign = operation({
  ...forWorkspace,
  ...{ id: 'setWorkspaceQrDesign', method: 'put', scope: 'workspaces.write', body: newQrDesign },
  ...{ summary: 'Set the QR design of a workspace', description: described.put },
})
export const deleteWorkspaceQrDesign = operation({
  ...forWorkspace,
  ...{ id: 'deleteWorkspaceQrDesign', method: 'delete', scope: 'workspaces.write' },
  ...{ summary: 'Delete the QR design of a workspace', description: described.delete },
})

/** Changes that make a code easier to read. */
export const qrFixes = ['margin', 'colors', 'shape', 'label', 'logo'] as const
export type QrFix = (typeof qrFixes)[number]
export const qrCautions = ['margin', 'contrast', 'inverted'] as const
export type QrCaution = (typeof qrCautions)[number]

export const qrCheck = z
  .strictObject({
    scans: z.boolean().describe('Whether a decoder could read the code that was drawn in this design.'),
    problem: z.string().nullable().describe('Field of the request because of which the code cannot be drawn.'),
    message: z.string().nullable().describe('Why the code cannot be drawn.'),
    fixes: z
      .array(z.enum(qrFixes))
      .describe(
        'If `scans` is false: the changes of which one is enough for the decoder. `margin`: a margin of 4; `colors`: black on white; `shape`: square modules and markers; `label` and `logo`: none.',
      ),
    cautions: z
      .array(z.enum(qrCautions))
      .describe(
        'What other scanners may fail on. `margin`: less than 2 modules; `contrast`: the brightness differs by less than 40 %; `inverted`: the code is lighter than its background.',
      ),
  })
  .meta({ id: 'QrCheck' })
export type QrCheck = z.infer<typeof qrCheck>

const checkedDesign = newQrDesign
  .extend({ url: z.string().min(1).max(32_000).describe('URL to encode.') })
  .meta({ id: 'CheckedQrDesign' })
export type CheckedQrDesign = z.output<typeof checkedDesign>

export const checkQrDesign = operation({
  id: 'checkQrDesign',
  method: 'post',
  path: '/qr/check',
  summary: 'Check a QR design',
  description:
    'Draws the URL in this design, decodes the picture with another library, and says what to change if that failed. Stores nothing.',
  tag: 'QR codes',
  scope: 'links.read',
  body: checkedDesign,
  response: qrCheck,
})
