/** ClickHouse expressions that derive the columns of an event deterministically from its click number. */

const dice = (salt: number) => `cityHash64(n, ${salt})`
const share = (salt: number) => `(${dice(salt)} % 1000000) / 1000000`
const text = (value: string) => `'${value}'`
/** Picks early values of the list much more often than late ones. */
const pick = (values: string[], salt: number) =>
  `[${values.map(text).join(', ')}][1 + toUInt32(floor(${values.length} * pow(${share(salt)}, 2)))]`

const countries = ['US', 'DE', 'GB', 'FR', 'IN', 'BR', 'JP', 'CA', 'AU', 'ES', 'IT', 'NL', 'SE', 'PL', 'MX', 'Unknown']
const country = pick(countries, 1)
const area = `toUInt32(${dice(2)} % 12)`
const click = {
  link_number: `{first:UInt64} + toUInt64(floor({links:UInt32} * pow(${share(3)}, 3)))`,
  url: `concat('https://example.com/page-', toString(${dice(4)} % 2000), '?utm_source=', ${pick(['mail', 'ads', 'social'], 5)})`,
  trigger: pick(['link', 'link', 'link', 'qr', 'pageview'], 6),
  ip: `toIPv6(concat('10.', toString(${dice(7)} % 256), '.', toString(${dice(8)} % 256), '.0'))`,
  country,
  region: `concat(${country}, '-', toString(${area}))`,
  city: `concat('City ', ${country}, ' ', toString(${area}), ' ', toString(${dice(9)} % 8))`,
  continent: pick(['NA', 'EU', 'AS', 'SA', 'OC', 'AF', 'Unknown'], 1),
  device: pick(['Desktop', 'Mobile', 'Tablet'], 10),
  browser: pick(['Chrome', 'Mobile Safari', 'Safari', 'Edge', 'Firefox', 'Samsung Browser'], 11),
  os: pick(['Windows', 'iOS', 'Android', 'Mac OS', 'Linux'], 12),
  referer: pick(['(direct)', 't.co', 'google.com', 'facebook.com', 'news.example', 'linkedin.com'], 13),
  referer_url: `if(${share(13)} < 0.2, '(direct)', concat('https://news.example/story-', toString(${dice(14)} % 5000)))`,
  utm_source: pick(['', 'mail', 'ads', 'social'], 5),
  utm_medium: pick(['', 'cpc', 'email'], 15),
  utm_campaign: `concat('campaign-', toString(${dice(16)} % 100))`,
  utm_term: pick(['', 'shoes', 'boots'], 17),
  utm_content: pick(['', 'red', 'blue'], 18),
}
const clickId = `toFixedString(substring(concat(${[20, 21, 22, 23].map((salt) => `reinterpretAsFixedString(${dice(salt)})`).join(', ')}), 1, 30), 30)`
const clickedAt = `fromUnixTimestamp64Milli(toInt64({from:UInt64} + ${dice(30)} % {lengthMs:UInt64}), 'UTC')`
const convertedAt = `least(${clickedAt} + toIntervalSecond(${dice(31)} % 259200), fromUnixTimestamp64Milli({until:Int64}, 'UTC'))`
const workspace = `if(${dice(32)} % 5 < 2, {workspaceId:String}, concat('ws_bench_', toString(${dice(33)} % 30)))`
const conversion = {
  workspace_id: workspace,
  timestamp: convertedAt,
  id: "concat('evt_', hex(cityHash64(n, 40)), hex(n))",
  event_name: text('Sign up'),
  customer_id: `concat('cus_', toString(${dice(41)} % 500000))`,
  metadata: `concat('{"plan":"', ${pick(['pro', 'free'], 42)}, '"}')`,
  click_id: clickId,
  click_timestamp: clickedAt,
  ...click,
  bot: text(''),
}

export const columnsByTable: Record<'click_events' | 'lead_events' | 'sale_events', Record<string, string>> = {
  click_events: {
    workspace_id: workspace,
    timestamp: clickedAt,
    id: clickId,
    ...click,
    bot: `if(${dice(19)} % 20 = 0, 'user-agent', '')`,
  },
  lead_events: conversion,
  sale_events: {
    ...conversion,
    id: "concat('evs_', hex(cityHash64(n, 50)), hex(n))",
    event_name: text('Purchase'),
    kind: text('sale'),
    sales: '1',
    amount: `toInt64(${dice(51)} % 20000)`,
    currency: text('usd'),
    invoice_id: text(''),
    payment_processor: text('custom'),
    sale_type: pick(['new', 'recurring'], 52),
  },
}
