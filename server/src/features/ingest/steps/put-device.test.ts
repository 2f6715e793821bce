import { expect, test } from 'vitest'
import type { RawClick } from '../../redirect/messages.ts'
import { putDevice } from './put-device.ts'
import { startDraft } from './step.ts'

const gecko = '(KHTML, like Gecko)'
const windows = `Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 ${gecko} Chrome/126.0.0.0 Safari/537.36`
const mac = `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 ${gecko} Version/17.5 Safari/605.1.15`
const linux = 'Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0'
const iphone = `Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 ${gecko} Version/17.5 Mobile/15E148 Safari/604.1`
const ipad = `Mozilla/5.0 (iPad; CPU OS 16_6 like Mac OS X) AppleWebKit/605.1.15 ${gecko} Version/16.6 Mobile/15E148 Safari/604.1`
const android = `Mozilla/5.0 (Linux; Android 14; SM-S918B) AppleWebKit/537.36 ${gecko} Chrome/126.0.0.0 Mobile Safari/537.36`
const television = `Mozilla/5.0 (SMART-TV; Linux; Tizen 6.0) AppleWebKit/537.36 ${gecko} Version/6.0 TV Safari/537.36`
const playstation = `Mozilla/5.0 (PlayStation; PlayStation 5/2.26) AppleWebKit/605.1.15 ${gecko} Version/13.0 Safari/605.1.15`

test.each<[string, string, string, string]>([
  [windows, 'Desktop', 'Chrome', 'Windows'],
  [`${windows} Edg/126.0.0.0`, 'Desktop', 'Edge', 'Windows'],
  [mac, 'Desktop', 'Safari', 'Mac OS'],
  [linux, 'Desktop', 'Firefox', 'Linux'],
  [iphone, 'Mobile', 'Mobile Safari', 'iOS'],
  [ipad, 'Tablet', 'Mobile Safari', 'iOS'],
  [android, 'Mobile', 'Chrome', 'Android'],
  [television, 'Smarttv', 'Safari', 'Tizen'],
  [playstation, 'Console', 'Safari', 'PlayStation'],
  ['curl/8.5.0', 'Unknown', 'Unknown', 'Unknown'],
  ['', 'Unknown', 'Unknown', 'Unknown'],
  ['\u0000 ü 🙂', 'Unknown', 'Unknown', 'Unknown'],
  [`${windows} ${'Extension/1.0 '.repeat(1000)}`, 'Desktop', 'Chrome', 'Windows'],
])('%s', (userAgent, device, browser, os) => {
  const draft = startDraft({ userAgent } as RawClick)
  const expected = { keep: { raw: draft.raw, event: { ...draft.event, device, browser, os } } }
  expect(putDevice(draft)).toEqual(expected)
  expect(putDevice(draft)).toEqual(expected)
})
