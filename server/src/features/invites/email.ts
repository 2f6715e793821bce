type Content = {
  link: string
  invite: { role: string; expires_at: Date }
  workspace: { name: string }
  inviter: { name: string; email: string } | undefined
}

/** The e-mail with the link of an invite. Names are the users' own words, so they are shortened and stay on one line. */
export function inviteEmail({ link, invite, workspace, inviter }: Content): { subject: string; text: string } {
  const name = oneLine(workspace.name)
  const who = inviter ? `${oneLine(inviter.name)} (${inviter.email})` : 'An administrator'
  return {
    subject: `Invitation to the workspace ${name}`,
    text: `${who} invites you to the workspace "${name}" as ${invite.role}.

To accept, open this link and sign in with this e-mail address:
${link}

The link works once, until ${invite.expires_at.toISOString().slice(0, 10)}. If you do not expect it, ignore this e-mail.
`,
  }
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, 64)
}
