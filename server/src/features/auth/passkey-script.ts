/** The only script of the pages: it creates passkeys and signs in with them. */
export const passkeyScript = `'use strict'
const bytes = (text) => Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0))
const text = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
const withIds = (list) => (list ?? []).map((entry) => ({ ...entry, id: bytes(entry.id) }))

async function call(path, body) {
  const response = await fetch('/auth/passkey/' + path, {
    method: body ? 'POST' : 'GET',
    headers: body ? { 'content-type': 'application/json' } : {},
    body: body && JSON.stringify(body),
  })
  const answer = await response.json().catch(() => ({}))
  if (!response.ok) throw new Error(answer.error?.message ?? 'The passkey was not accepted.')
  return answer
}

function describe(credential) {
  const response = {}
  for (const name of ['clientDataJSON', 'attestationObject', 'authenticatorData', 'signature', 'userHandle']) {
    if (credential.response[name]) response[name] = text(credential.response[name])
  }
  if (credential.response.getTransports) response.transports = credential.response.getTransports()
  return {
    id: credential.id,
    rawId: text(credential.rawId),
    type: credential.type,
    clientExtensionResults: credential.getClientExtensionResults(),
    response,
  }
}

async function register() {
  const options = await call('generate-register-options')
  const publicKey = {
    ...options,
    challenge: bytes(options.challenge),
    user: { ...options.user, id: bytes(options.user.id) },
    excludeCredentials: withIds(options.excludeCredentials),
  }
  const credential = await navigator.credentials.create({ publicKey })
  await call('verify-registration', { response: describe(credential), name: navigator.platform })
  location.assign('/account')
}

async function signIn(next) {
  const options = await call('generate-authenticate-options')
  const publicKey = {
    ...options,
    challenge: bytes(options.challenge),
    allowCredentials: withIds(options.allowCredentials),
    userVerification: 'required',
  }
  const credential = await navigator.credentials.get({ publicKey })
  await call('verify-authentication', { response: describe(credential) })
  location.assign(next)
}

if (window.PublicKeyCredential) {
  for (const button of document.querySelectorAll('[data-passkey]')) {
    button.hidden = false
    button.addEventListener('click', async () => {
      const problem = document.querySelector('[data-passkey-problem]')
      problem.hidden = true
      try {
        await (button.dataset.passkey === 'register' ? register() : signIn(button.dataset.next))
      } catch (error) {
        problem.textContent = error.name === 'NotAllowedError' ? 'Nothing was changed.' : error.message
        problem.hidden = false
      }
    })
  }
}
`
