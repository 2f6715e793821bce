/** The time zone of the browser: an installation has none. */
export const localZone = Intl.DateTimeFormat().resolvedOptions().timeZone
