/** The keys of a shortcut as people read them: `g l` is G L, `$mod+k` is ⌘K on a Mac and Ctrl K elsewhere. */
export function formatKeys(keys: string, isMac = isApple()): string[] {
  return keys.split(' ').map((press) => {
    const parts = press.split('+').filter((part) => !part.startsWith('['))
    const names = parts.map((part) => nameKey(part, isMac))
    return names.join(isMac ? '' : ' ')
  })
}

const macNames: Record<string, string> = { $mod: '⌘', Shift: '⇧', Alt: '⌥', Enter: '↵', Backspace: '⌫' }
const otherNames: Record<string, string> = { $mod: 'Ctrl', Enter: '↵', Backspace: '⌫' }
const arrows: Record<string, string> = {
  ArrowLeft: '←',
  ArrowRight: '→',
  ArrowUp: '↑',
  ArrowDown: '↓',
  Escape: 'Esc',
}

function nameKey(part: string, isMac: boolean): string {
  const name = arrows[part] ?? (isMac ? macNames : otherNames)[part] ?? part
  return name.length === 1 ? name.toUpperCase() : name
}

function isApple(): boolean {
  return /Mac|iPhone|iPad/.test(globalThis.navigator?.platform ?? '')
}
