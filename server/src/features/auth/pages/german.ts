export type Language = 'en' | 'de'

/** The pages' texts in German, by the English ones. `{name}` stands for a value. */
const texts: Record<string, string> = {
  'Sign in': 'Anmelden',
  'Sign out': 'Abmelden',
  'Sign in again': 'Noch einmal anmelden',
  'Sign in with a link': 'Mit einem Link anmelden',
  'Sign in with a password': 'Mit Passwort anmelden',
  'Sign in to join': 'Anmelden und beitreten',
  'Use a passkey': 'Passkey verwenden',
  'Send me a link instead': 'Stattdessen einen Link senden',
  'Send me a link': 'Link senden',
  'Send the link': 'Link senden',
  'Send a new link': 'Neuen Link senden',
  'Forgot your password?': 'Passwort vergessen?',
  'Create an account': 'Konto erstellen',
  'Create your account': 'Dein Konto erstellen',
  'Create account': 'Konto erstellen',
  'I have an account': 'Ich habe ein Konto',
  'We send a link to your e-mail address. It works once, for 15 minutes.':
    'Wir senden einen Link an deine E-Mail-Adresse. Er gilt einmal, 15 Minuten lang.',
  'We send a link to your e-mail address. It works once, for an hour.':
    'Wir senden einen Link an deine E-Mail-Adresse. Er gilt einmal, eine Stunde lang.',
  'We send a link to your e-mail address. It works once, for a day.':
    'Wir senden einen Link an deine E-Mail-Adresse. Er gilt einmal, einen Tag lang.',
  'This link signs you in as {email}.': 'Dieser Link meldet dich als {email} an.',
  'E-mail address': 'E-Mail-Adresse',
  'E-mail address: {email}': 'E-Mail-Adresse: {email}',
  Password: 'Passwort',
  'New password': 'Neues Passwort',
  'Current password': 'Jetziges Passwort',
  'Your name': 'Dein Name',
  'At least 10 characters. Several words are easy to remember and hard to guess.':
    'Mindestens 10 Zeichen. Mehrere Wörter sind leicht zu merken und schwer zu erraten.',
  Code: 'Code',
  'The six digits that your authenticator app shows, or one of your recovery codes.':
    'Die sechs Ziffern aus deiner Authenticator-App oder einer deiner Wiederherstellungscodes.',
  'Second factor': 'Zweiter Faktor',
  Continue: 'Weiter',
  'Confirm that it is you': 'Bestätige, dass du es bist',
  'This change is sensitive. Confirm that you are {email}.':
    'Diese Änderung ist heikel. Bestätige, dass du {email} bist.',
  Confirm: 'Bestätigen',
  'Reset your password': 'Passwort zurücksetzen',
  'Choose a new password': 'Neues Passwort wählen',
  Save: 'Speichern',
  'Set up Tributary': 'Tributary einrichten',
  "You become the owner of this installation's first workspace.":
    'Du wirst Owner des ersten Workspaces dieser Installation.',
  'Name of the first workspace': 'Name des ersten Workspaces',
  'Set up': 'Einrichten',
  'Password saved': 'Passwort gespeichert',
  'That did not work': 'Das hat nicht geklappt',
  'New people join by an invite here. Ask an owner of your workspace.':
    'Neue Leute kommen hier durch eine Einladung dazu. Bitte einen Owner deines Workspaces darum.',

  Invite: 'Einladung',
  'Join {workspace}': '{workspace} beitreten',
  '{email} is invited to the workspace {workspace} as {role}.':
    '{email} ist in den Workspace {workspace} als {role} eingeladen.',
  Join: 'Beitreten',
  'Create your account to join.': 'Erstelle dein Konto, um beizutreten.',
  'Create account and join': 'Konto erstellen und beitreten',
  'Sign out and open the link again, or ask for an invite to your address.':
    'Melde dich ab und öffne den Link noch einmal, oder bitte um eine Einladung an deine Adresse.',

  'Your account': 'Dein Konto',
  'Open the dashboard': 'Dashboard öffnen',
  'Signed in as {email}': 'Angemeldet als {email}',
  Profile: 'Profil',
  'New e-mail address': 'Neue E-Mail-Adresse',
  'We send a link to it. It changes when you open the link.':
    'Wir senden einen Link dorthin. Sie ändert sich, wenn du ihn öffnest.',
  Change: 'Ändern',
  Set: 'Festlegen',
  'A new password ends your other sessions.': 'Ein neues Passwort beendet deine anderen Sitzungen.',
  'A code of an authenticator app, besides your password.':
    'Ein Code aus einer Authenticator-App, zusätzlich zum Passwort.',
  'It is on.': 'Er ist eingeschaltet.',
  'New recovery codes': 'Neue Wiederherstellungscodes',
  'Turn on': 'Einschalten',
  'Turn off': 'Ausschalten',
  Passkeys: 'Passkeys',
  Passkey: 'Passkey',
  'Sign in with your fingerprint, face or device PIN.': 'Anmelden mit Fingerabdruck, Gesicht oder Geräte-PIN.',
  'Add a passkey': 'Passkey hinzufügen',
  'Passkeys need JavaScript.': 'Passkeys brauchen JavaScript.',
  'added {date}': 'hinzugefügt am {date}',
  Remove: 'Entfernen',
  Sessions: 'Sitzungen',
  'since {date}': 'seit {date}',
  'This session': 'Diese Sitzung',
  End: 'Beenden',
  'End all others': 'Alle anderen beenden',
  '{browser} on {system}': '{browser} auf {system}',
  'Unknown device': 'Unbekanntes Gerät',
  'Delete account': 'Konto löschen',
  'Your workspaces stay with their other members.': 'Deine Workspaces bleiben ihren anderen Mitgliedern.',
  'Delete my account': 'Mein Konto löschen',
  'Type your e-mail address': 'Gib deine E-Mail-Adresse ein',
  'Account deleted': 'Konto gelöscht',
  'Your account is deleted.': 'Dein Konto ist gelöscht.',
  'Confirm your new address': 'Neue Adresse bestätigen',
  'You sign in to the account of {account} with {email} from now on.':
    'Für das Konto von {account} meldest du dich ab jetzt mit {email} an.',
  'Address changed': 'Adresse geändert',
  'Sign in with the new address from now on.': 'Melde dich ab jetzt mit der neuen Adresse an.',
  'Set up the second factor': 'Zweiten Faktor einrichten',
  '1. Scan this with an authenticator app, or type the key:':
    '1. Scanne das mit einer Authenticator-App oder gib den Schlüssel ein:',
  "2. Store these recovery codes. Each works once, when you don't have your device.":
    '2. Bewahre diese Wiederherstellungscodes auf. Jeder gilt einmal, wenn du dein Gerät nicht hast.',
  '3. Enter the code that the app shows.': '3. Gib den Code ein, den die App zeigt.',
  'Recovery codes': 'Wiederherstellungscodes',
  'Store these codes. The former ones no longer work.': 'Bewahre diese Codes auf. Die früheren gelten nicht mehr.',
  Done: 'Fertig',
}

/** What went well or wrong, in German: notices of the pages, and errors that a visitor can correct. */
const messages: Record<string, string> = {
  'If that address may sign in here, a link is on its way. Check your mailbox.':
    'Wenn sich diese Adresse hier anmelden darf, ist ein Link unterwegs. Sieh in dein Postfach.',
  'If that address is free, a link is on its way to it.':
    'Wenn diese Adresse frei ist, ist ein Link dorthin unterwegs.',
  'Your other sessions have ended. Sign in with the new password.':
    'Deine anderen Sitzungen sind beendet. Melde dich mit dem neuen Passwort an.',
  'Your name is saved.': 'Dein Name ist gespeichert.',
  'Your password is saved. Your other sessions have ended.':
    'Dein Passwort ist gespeichert. Deine anderen Sitzungen sind beendet.',
  'The session has ended.': 'Die Sitzung ist beendet.',
  '{count} sessions have ended.': '{count} Sitzungen sind beendet.',
  'The passkey is removed.': 'Der Passkey ist entfernt.',
  'This link was used already or has expired. Ask for a new one.':
    'Dieser Link wurde schon benutzt oder ist abgelaufen. Fordere einen neuen an.',
  'This setup link was used already or has expired. Print a new one: tributary user setup-link':
    'Dieser Einrichtungslink wurde schon benutzt oder ist abgelaufen. Einen neuen gibt aus: tributary user setup-link',
  'This installation is set up already. Sign in.': 'Diese Installation ist schon eingerichtet. Melde dich an.',
  'The e-mail address or the password is wrong.': 'E-Mail-Adresse oder Passwort ist falsch.',
  'The password is wrong.': 'Das Passwort ist falsch.',
  'This account is disabled. Ask the operator.': 'Dieses Konto ist gesperrt. Wende dich an den Betreiber.',
  'The name must have 1 to {most} characters.': 'Der Name muss 1 bis {most} Zeichen haben.',
  'The workspace must have 1 to {most} characters.': 'Der Name des Workspaces muss 1 bis {most} Zeichen haben.',
  'The password has {length} characters. Choose one with 10 to 200.':
    'Das Passwort hat {length} Zeichen. Wähle eines mit 10 bis 200.',
  '{text} is not an e-mail address, such as ada@example.com.': '{text} ist keine E-Mail-Adresse wie ada@example.com.',
  'A user with the e-mail address {email} exists already. Sign in, or choose another.':
    'Ein Konto mit der E-Mail-Adresse {email} gibt es schon. Melde dich an oder wähle eine andere.',
  'The code is wrong. Enter the one that the app shows now.':
    'Der Code ist falsch. Gib den ein, den die App jetzt zeigt.',
  'This code was used already. Enter the next one that the app shows.':
    'Dieser Code wurde schon benutzt. Gib den nächsten ein, den die App zeigt.',
  'This took too long. Sign in again.': 'Das hat zu lange gedauert. Melde dich noch einmal an.',
  'Too many wrong codes. Sign in again later.': 'Zu viele falsche Codes. Melde dich später noch einmal an.',
  'Too many people are signing in right now. Try again in a few seconds.':
    'Gerade melden sich zu viele Leute an. Versuch es in ein paar Sekunden noch einmal.',
  'This invite is for another e-mail address. You are signed in as {email}.':
    'Diese Einladung gilt einer anderen E-Mail-Adresse. Du bist angemeldet als {email}.',
  'This invite was used already. Sign in to open the workspace.':
    'Diese Einladung wurde schon benutzt. Melde dich an, um den Workspace zu öffnen.',
  'This invite expired on {date}. Ask an owner of the workspace to renew it.':
    'Diese Einladung ist am {date} abgelaufen. Bitte einen Owner des Workspaces, sie zu erneuern.',
  'There is no such invite. It may have been renewed or revoked; ask for a new link.':
    'Diese Einladung gibt es nicht. Vielleicht wurde sie erneuert oder zurückgezogen; bitte um einen neuen Link.',
  'Type your e-mail address, {email}, to delete the account.':
    'Gib deine E-Mail-Adresse {email} ein, um das Konto zu löschen.',
}

const patterns = Object.entries(messages)
  .filter(([english]) => english.includes('{'))
  .map(([english, german]) => ({ pattern: patternFor(english), german }))

/** A text of the pages in a language, with its slots. */
export function translate(text: string, language: Language): string {
  return language === 'en' ? text : (texts[text] ?? text)
}

/** A finished sentence, such as an error of a service; one that is not known stays English. */
export function translateMessage(text: string, language: Language): string {
  if (language === 'en') return text
  const known = messages[text] ?? texts[text]
  if (known) return known
  for (const { pattern, german } of patterns) {
    const found = pattern.exec(text)?.groups
    if (found) return german.replaceAll(/\{(\w+)\}/g, (_, name: string) => germanValue(name, found[name] ?? ''))
  }
  return text
}

function germanValue(name: string, value: string): string {
  if (name !== 'date') return value
  const at = new Date(value.replace(' at ', ' '))
  const format = new Intl.DateTimeFormat('de', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' })
  return Number.isNaN(at.getTime()) ? value : `${format.format(at)} UTC`
}

function patternFor(english: string): RegExp {
  const escaped = english.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&')
  return new RegExp(`^${escaped.replaceAll(/\{(\w+)\}/g, '(?<$1>.+?)')}$`, 's')
}
