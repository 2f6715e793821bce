import {
  type CheckedQrDesign,
  defaultQrDesign,
  type NewQrDesign,
  type QrCaution,
  type QrCheck,
  type QrFix,
  qrFixes,
} from '@tributary/contract/qr-designs'
import type { Ctx } from '../../platform/context.ts'
import { AppError } from '../../platform/errors.ts'
import { compareBrightness } from '../qr/service.ts'
import { scanDesigns } from './service.ts'

/** Quiet zones in modules: what the standard requires, and what most scanners need. */
const [requiredMargin, leastMargin] = [4, 2]
/** Below this difference in brightness, poor light or print makes codes unreadable. */
const safeContrast = 0.4

/** Draws and decodes a design without storing it; tries what would make an unreadable one readable. */
export async function checkDesign(ctx: Ctx, { url, ...design }: CheckedQrDesign): Promise<QrCheck> {
  const cautions = listCautions(design)
  try {
    const [scans = false] = await scanDesigns(ctx, url, [design])
    return { scans, problem: null, message: null, fixes: scans ? [] : await findFixes(ctx, url, design), cautions }
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'unprocessable_entity') throw error
    const { message } = error
    return { scans: false, problem: /^`(\w+)`/.exec(message)?.[1] ?? null, message, fixes: [], cautions }
  }
}

/** Finds the changes each of which is enough for the decoder. */
async function findFixes(ctx: Ctx, url: string, design: NewQrDesign): Promise<QrFix[]> {
  const fixes = qrFixes.filter((fix) => isNeeded(fix, design))
  const fixed = fixes.map((fix) => applyFix(fix, design))
  const scans = await scanDesigns(ctx, url, fixed)
  return fixes.filter((_, index) => scans[index])
}

function isNeeded(fix: QrFix, design: NewQrDesign): boolean {
  if (fix === 'margin') return design.margin < requiredMargin
  return JSON.stringify(applyFix(fix, design)) !== JSON.stringify(design)
}

function applyFix(fix: QrFix, design: NewQrDesign): NewQrDesign {
  const { fgColor, bgColor, markerColor, shape, markerShape } = defaultQrDesign
  const changes = {
    margin: { margin: requiredMargin },
    colors: { fgColor, bgColor, markerColor },
    shape: { shape, markerShape },
    label: { label: null },
    logo: { logo: null },
  }
  return { ...design, ...changes[fix] }
}

function listCautions({ margin, fgColor, bgColor, markerColor }: NewQrDesign): QrCaution[] {
  const differences = [fgColor, markerColor ?? fgColor].map((color) => compareBrightness(color, bgColor))
  const found = {
    margin: margin < leastMargin,
    contrast: differences.some((difference) => Math.abs(difference) < safeContrast),
    inverted: differences.some((difference) => difference > 0),
  }
  return (Object.keys(found) as QrCaution[]).filter((caution) => found[caution])
}
