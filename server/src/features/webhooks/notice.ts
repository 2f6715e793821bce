type Disabled = { id: string; name: string; url: string; failing_since: Date | null }

/** The e-mail about a webhook that was disabled because all its calls failed. */
export function disabledNotice(webhook: Disabled, workspaceName: string, apiUrl: string) {
  const address = `${apiUrl}/webhooks/${webhook.id}`
  const since = webhook.failing_since ? ` since ${webhook.failing_since.toISOString()}` : ''
  return {
    subject: `The webhook "${webhook.name}" was disabled`,
    text: `The webhook "${webhook.name}" of the workspace "${workspaceName}" was disabled. Every call to
${webhook.url}
has failed${since}. It gets no new events.

To see the failures:  GET ${address}/deliveries
To enable it again:   PATCH ${address} with {"disabled": false}
To resend failures:   POST ${address}/replay with {"since": "..."}

Pending deliveries resume when you enable it. Events are kept for 30 days.
`,
  }
}
