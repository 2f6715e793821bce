import type { Language } from './language.ts'

export type Words = Record<'not-found' | 'banned' | 'disabled' | 'expired' | 'unavailable', Notice> & {
  password: Notice & { label: string; button: string; wrong: string; foreign: string; limited(minutes: number): string }
  app: Notice & { link: string }
  preview: { link: string }
}
type Notice = { title: string; text: string }

export const words: Record<Language, Words> = {
  en: {
    'not-found': { title: 'Link not found', text: 'There is no link at this address. Check it for typing errors.' },
    banned: { title: 'Link blocked', text: 'This link was blocked because it was used for something harmful.' },
    disabled: { title: 'Link disabled', text: 'This link has been switched off by its owner.' },
    expired: { title: 'Link expired', text: 'This link was valid for a limited time, and that time is over.' },
    unavailable: { title: 'Try again shortly', text: 'This link can’t be looked up at the moment.' },
    password: {
      title: 'Password needed',
      text: 'This link is protected. Enter its password to continue.',
      label: 'Password',
      button: 'Continue',
      wrong: 'That is not the password. Try again.',
      foreign: 'That came from another website. Enter the password here.',
      limited: (minutes) => `Too many wrong passwords. Try again in ${minutes}\u00a0min.`,
    },
    app: { title: 'Opening an app', text: 'If nothing happens, use this button.', link: 'Open' },
    preview: { link: 'Go to the page' },
  },
  de: {
    'not-found': { title: 'Link nicht gefunden', text: 'Unter dieser Adresse gibt es keinen Link. Ist sie vertippt?' },
    banned: { title: 'Link gesperrt', text: 'Dieser Link wurde gesperrt, weil er missbraucht wurde.' },
    disabled: { title: 'Link abgeschaltet', text: 'Dieser Link wurde von seinem Besitzer abgeschaltet.' },
    expired: { title: 'Link abgelaufen', text: 'Dieser Link galt nur für eine gewisse Zeit, und die ist vorbei.' },
    unavailable: { title: 'Gleich noch einmal', text: 'Dieser Link lässt sich im Moment nicht nachschlagen.' },
    password: {
      title: 'Passwort nötig',
      text: 'Dieser Link ist geschützt. Mit seinem Passwort geht es weiter.',
      label: 'Passwort',
      button: 'Weiter',
      wrong: 'Das ist nicht das Passwort. Bitte noch einmal.',
      foreign: 'Die Eingabe wurde von einer anderen Website gesendet. Bitte das Passwort hier eingeben.',
      limited: (minutes) => `Zu viele falsche Passwörter. Bitte in ${minutes}\u00a0Min. noch einmal.`,
    },
    app: { title: 'Eine App wird geöffnet', text: 'Wenn nichts geschieht, hilft dieser Knopf.', link: 'Öffnen' },
    preview: { link: 'Zur Seite' },
  },
  es: {
    'not-found': {
      title: 'Enlace no encontrado',
      text: 'No hay ningún enlace en esta dirección. Comprueba que esté bien escrita.',
    },
    banned: { title: 'Enlace bloqueado', text: 'Este enlace se bloqueó porque se usaba con fines dañinos.' },
    disabled: { title: 'Enlace desactivado', text: 'El propietario ha desactivado este enlace.' },
    expired: { title: 'Enlace caducado', text: 'Este enlace era válido por un tiempo limitado, que ya ha pasado.' },
    unavailable: { title: 'Inténtalo en un momento', text: 'Ahora mismo no se puede consultar este enlace.' },
    password: {
      title: 'Hace falta una contraseña',
      text: 'Este enlace está protegido. Escribe su contraseña para continuar.',
      label: 'Contraseña',
      button: 'Continuar',
      wrong: 'Esa no es la contraseña. Inténtalo de nuevo.',
      foreign: 'El envío venía de otro sitio web. Escribe la contraseña aquí.',
      limited: (minutes) => `Demasiadas contraseñas incorrectas. Inténtalo de nuevo en ${minutes}\u00a0min.`,
    },
    app: { title: 'Abriendo una aplicación', text: 'Si no ocurre nada, usa este botón.', link: 'Abrir' },
    preview: { link: 'Ir a la página' },
  },
  fr: {
    'not-found': {
      title: 'Lien introuvable',
      text: 'Il n’y a pas de lien à cette adresse. Vérifiez qu’elle est bien écrite.',
    },
    banned: { title: 'Lien bloqué', text: 'Ce lien a été bloqué car il servait à nuire.' },
    disabled: { title: 'Lien désactivé', text: 'Ce lien a été désactivé par son propriétaire.' },
    expired: { title: 'Lien expiré', text: 'Ce lien n’était valable qu’un certain temps, qui est écoulé.' },
    unavailable: { title: 'Réessayez dans un instant', text: 'Ce lien ne peut pas être consulté pour le moment.' },
    password: {
      title: 'Mot\u00a0de\u00a0passe requis',
      text: 'Ce lien est protégé. Saisissez son mot de passe pour continuer.',
      label: 'Mot de passe',
      button: 'Continuer',
      wrong: 'Ce n’est pas le bon mot de passe. Réessayez.',
      foreign: 'L’envoi venait d’un autre site. Saisissez le mot de passe ici.',
      limited: (minutes) => `Trop de mots de passe erronés. Réessayez dans ${minutes}\u00a0min.`,
    },
    app: { title: 'Ouverture d’une application', text: 'Si rien ne se passe, utilisez ce bouton.', link: 'Ouvrir' },
    preview: { link: 'Aller à la page' },
  },
  zh: {
    'not-found': { title: '找不到链接', text: '这个地址没有对应的链接，请检查是否输入有误。' },
    banned: { title: '链接已被封禁', text: '此链接因被用于有害用途而遭到封禁。' },
    disabled: { title: '链接已停用', text: '此链接已被其所有者停用。' },
    expired: { title: '链接已过期', text: '此链接仅在限定时间内有效，现已过期。' },
    unavailable: { title: '请稍后再试', text: '目前无法查询此链接。' },
    password: {
      title: '需要密码',
      text: '此链接受密码保护，请输入密码以继续。',
      label: '密码',
      button: '继续',
      wrong: '密码不正确，请重试。',
      foreign: '该请求来自其他网站，请在此处输入密码。',
      limited: (minutes) => `密码错误次数过多，请在 ${minutes} 分钟后重试。`,
    },
    app: { title: '正在打开应用', text: '如果没有反应，请点击下面的按钮。', link: '打开' },
    preview: { link: '前往页面' },
  },
  ja: {
    'not-found': {
      title: 'リンクが見つかりません',
      text: 'このアドレスにリンクはありません。入力ミスがないかご確認ください。',
    },
    banned: { title: 'ブロックされたリンク', text: 'このリンクは有害な目的で使われたため、ブロックされました。' },
    disabled: { title: '無効なリンク', text: 'このリンクは所有者によって無効にされました。' },
    expired: { title: '期限切れのリンク', text: 'このリンクの有効期間は終了しました。' },
    unavailable: { title: 'しばらくしてからお試しください', text: '現在、このリンクを確認できません。' },
    password: {
      title: 'パスワードが必要です',
      text: 'このリンクは保護されています。続けるにはパスワードを入力してください。',
      label: 'パスワード',
      button: '続ける',
      wrong: 'パスワードが違います。もう一度お試しください。',
      foreign: '別のサイトから送信されました。ここでパスワードを入力してください。',
      limited: (minutes) => `パスワードの誤りが多すぎます。${minutes} 分後にもう一度お試しください。`,
    },
    app: { title: 'アプリを開いています', text: '何も起こらない場合は、このボタンを押してください。', link: '開く' },
    preview: { link: 'ページへ進む' },
  },
}
