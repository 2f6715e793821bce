const pages: [key: string, path: string, trackConversion: boolean][] = [
  ['launch', '/launch?utm_source=newsletter&utm_medium=email&utm_campaign=launch', true],
  ['pricing', '/pricing?utm_source=ads&utm_medium=cpc&utm_campaign=pricing', true],
  ['signup', '/signup', true],
  ['docs', '/docs', false],
  ['blog', '/blog?utm_source=social&utm_medium=post', false],
  ['podcast', '/podcast/episode-12?utm_source=podcast&utm_medium=audio', false],
  ['webinar', '/webinar/attribution-basics', true],
  ['poster', '/events/berlin?utm_source=poster&utm_medium=print', false],
  ['menu', '/menu', false],
  ['app', '/download', false],
  ['changelog', '/changelog', false],
  ['jobs', '/jobs', false],
  ['partners', '/partners?utm_source=partners&utm_medium=referral', true],
  ['black-friday', '/offers/black-friday?utm_source=ads&utm_medium=cpc&utm_campaign=black-friday', true],
  ['case-study', '/customers/harbour', false],
  ['demo', '/book-a-demo', true],
  ['github', '/open-source', false],
  ['video', '/videos/tour?utm_source=video&utm_medium=social', false],
  ['survey', '/survey', false],
  ['guide/setup', '/guides/setup', false],
]

export const demoLinks = pages.map(([key, path, trackConversion]) => ({
  key,
  url: `https://www.example.com${path}`,
  trackConversion,
}))
