/**
 * Words and keyboard rows that passwords are most often made of. A password is common when nothing but such words,
 * repeated characters, dates and sequences remains after digits for letters (`p4ssw0rd`) are undone.
 */
const words =
  `password passwort motdepasse contrasena senha parola haslo wachtwoord salasana losenord secret geheim changeme
  letmein welcome willkommen bienvenue bienvenido admin administrator root guest user test tester testing demo default
  login master access system server computer internet google facebook twitter youtube amazon apple microsoft windows
  linux android samsung iphone github gitlab docker oracle cisco tributary attribution analytics links company office
  business manager support service account hello hallo bonjour ciao world freedom money power magic wizard dragon
  monkey tiger lion panda eagle falcon shadow ninja warrior killer hunter ranger soldier sniper batman superman
  spiderman starwars pokemon pikachu naruto matrix gandalf merlin phoenix thunder lightning storm winter spring summer
  autumn january february march april may june july august september october november december monday tuesday
  wednesday thursday friday saturday sunday london paris berlin madrid moscow america england france germany canada
  brazil mexico china india australia football soccer baseball basketball hockey tennis golf liverpool arsenal chelsea
  barcelona realmadrid juventus bayern yankees cowboys steelers lakers ferrari porsche mercedes mustang corvette
  harley yamaha honda toyota banana orange apple cherry cookie chocolate cheese coffee pepper ginger sugar honey
  butter pizza burger iloveyou loveyou ilove love lovely lover forever always baby angel princess prince queen king
  princesa sunshine rainbow flower rose lily daisy jasmine diamond crystal silver golden purple yellow green blue red
  black white pink happy lucky smile friend friends family mother father sister brother daddy mommy jesus christ god
  heaven church bible faith trust hope peace michael michelle jessica jennifer ashley amanda daniel andrew joshua
  matthew anthony robert thomas charlie jordan george william david james john joseph richard steven justin brandon
  nicole hannah samantha elizabeth stephanie maria anna laura sarah sophie emma oliver harry jack buster maggie bailey
  rocky max molly toby oscar sparky snoopy mickey donald garfield tweety hotdog butterfly dolphin elephant giraffe
  kitten puppy doggy horses whatever nothing something anything blink trustno one two three four five six seven eight
  nine ten abc abcd abcde abcdef qwe qwer qwert qwerty qwertz azerty asd asdf asdfg asdfgh asdfghjkl zxc zxcv zxcvbn
  zxcvbnm qwertyuiop poiuytrewq lkjhgfdsa mnbvcxz yuiop hjkl qaz wsx edc rfv tgb yhn ujm qazwsx qazwsxedc my the new
  old big pass word key open sesame please enter number code temp temporary sample example private public`
    .split(/\s+/)
    .filter(Boolean)

const known = new Set(words)
const longestWord = Math.max(...words.map((word) => word.length))
const keyboardRows = ['01234567890', '09876543210', 'abcdefghijklmnopqrstuvwxyz', 'zyxwvutsrqponmlkjihgfedcba']
const letterForms: Record<string, string> = {
  '0': 'o',
  '1': 'l',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '8': 'b',
  '@': 'a',
  $: 's',
  '!': 'i',
}
const maxLength = 64

/** Whether a password is among those that attackers try first; `personal` has texts such as the e-mail address. */
export function isCommonPassword(password: string, personal: string[] = []): boolean {
  const plain = password.toLowerCase().replaceAll(/[\s._-]/g, '')
  if (new Set(plain).size < 5) return true
  const own = personal.flatMap((text) => text.toLowerCase().split(/[^\p{L}\p{N}]+/u)).filter((part) => part.length >= 3)
  const trimmed = plain.replaceAll(/^[^\p{L}]+|[^\p{L}]+$/gu, '')
  const forms = [plain, trimmed].flatMap((form) => [form, undoDigits(form)])
  return forms.some((form) => consistsOfKnown(form.slice(0, maxLength), own))
}

function undoDigits(text: string): string {
  return text.replaceAll(/[013457@$!8]/g, (letter) => letterForms[letter] ?? letter)
}

/** Whether the text is a chain of known words, runs of one character, dates and sequences. */
function consistsOfKnown(text: string, own: string[]): boolean {
  const reachable = new Set([0])
  for (let at = 0; at < text.length; at++) {
    if (!reachable.has(at)) continue
    const rest = text.slice(at)
    for (let length = 1; length <= Math.min(rest.length, longestWord); length++) {
      if (known.has(rest.slice(0, length))) reachable.add(at + length)
    }
    for (const word of own) if (rest.startsWith(word)) reachable.add(at + word.length)
    for (const length of [runLength(rest), sequenceLength(rest), /^[\d!?.*#]{1,8}$/.exec(rest)?.[0].length ?? 0]) {
      if (length > 0) reachable.add(at + length)
    }
  }
  return reachable.has(text.length)
}

function runLength(text: string): number {
  return /^(.)\1{2,}/u.exec(text)?.[0].length ?? 0
}

function sequenceLength(text: string): number {
  for (let length = Math.min(text.length, 26); length >= 3; length--) {
    if (keyboardRows.some((row) => row.includes(text.slice(0, length)))) return length
  }
  return 0
}
