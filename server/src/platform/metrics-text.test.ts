import { expect, test } from 'vitest'
import { openMetrics } from './metrics.ts'
import { formatMetric, mergeMetrics } from './metrics-text.ts'

test('samples of one metric from several processes are grouped under one header', () => {
  const one =
    '# HELP a First.\n# TYPE a counter\na{role="api"} 1\n\n# HELP b Second.\n# TYPE b gauge\nb{role="api"} 2\n'
  const other =
    '# HELP b Second.\n# TYPE b gauge\nb{role="worker"} 3\n\n# HELP a First.\n# TYPE a counter\na{role="worker"} 4\n'
  expect(mergeMetrics([one, '', other])).toBe(
    [
      '# HELP a First.',
      '# TYPE a counter',
      'a{role="api"} 1',
      'a{role="worker"} 4',
      '# HELP b Second.',
      '# TYPE b gauge',
      'b{role="api"} 2',
      'b{role="worker"} 3',
      '',
    ].join('\n'),
  )
})

test('an empty list merges to an empty text', () => {
  expect(mergeMetrics(['', ''])).toBe('')
})

test('no sample of a real process is lost or duplicated', async () => {
  const texts = await Promise.all(
    ['api', 'worker'].map((role) => {
      const { registry, limited } = openMetrics()
      registry.setDefaultLabels({ role, slot: '0' })
      limited.inc({ plan: 'free', limit: 'minute' })
      return registry.metrics()
    }),
  )
  const samples = (text: string) => text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  const merged = mergeMetrics(texts)
  expect(samples(merged).sort()).toEqual(texts.flatMap(samples).sort())
  const heads = merged.match(/^# TYPE \S+/gm) ?? []
  expect(new Set(heads).size).toBe(heads.length)
  expect(merged).toContain('tributary_rate_limited_total{plan="free",limit="minute",role="worker",slot="0"} 1')
})

test('a metric is written with its labels', () => {
  expect(formatMetric('up', 'gauge', 'Help.', [{ labels: { role: 'api', slot: 0 }, value: 1 }])).toBe(
    '# HELP up Help.\n# TYPE up gauge\nup{role="api",slot="0"} 1\n',
  )
})
