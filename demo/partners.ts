import type { RewardInput } from '@tributary/contract/reward-terms'

export type SampleCustomer = {
  /** Days ago of the sign-up. */
  lead: number
  sales?: { daysAgo: number; amount: number; productId?: string; refunded?: number }[]
}
type SamplePartner = {
  username: string
  name: string
  email: string
  country: string
  tag: string
  group: GroupSlug
  clicks: number
  customers: SampleCustomer[]
}

type GroupSlug = 'creators' | 'agencies' | 'friends'
type SampleGroup = { name: string; holdingPeriodDays: 0 | 7 | 30; rewards: RewardInput[] }

/** Groups of the sample program with what their partners earn. `creators` is the default group. */
export const demoGroups: Record<GroupSlug, SampleGroup> = {
  creators: {
    name: 'Creators',
    holdingPeriodDays: 7,
    rewards: [
      { event: 'sale', type: 'percentage', amountInPercentage: 20, maxDuration: 12 },
      { event: 'lead', type: 'flat', amountInCents: 200, spendLimitAmount: 600, spendLimitInterval: 'allTime' },
    ],
  },
  agencies: {
    name: 'Agencies',
    holdingPeriodDays: 30,
    rewards: [
      {
        event: 'sale',
        type: 'percentage',
        amountInPercentage: 30,
        maxDuration: null,
        modifiers: [
          {
            operator: 'AND',
            conditions: [{ entity: 'sale', attribute: 'productId', operator: 'equals_to', value: 'team' }],
            type: 'flat',
            amountInCents: 5_000,
          },
        ],
      },
    ],
  },
  friends: {
    name: 'Friends',
    holdingPeriodDays: 0,
    rewards: [{ event: 'sale', type: 'flat', amountInCents: 1_000, maxDuration: 0 }],
  },
}

/** A customer who signed up and bought for the same amount on some days. */
function buyer(lead: number, amount: number, ...soldDaysAgo: number[]): SampleCustomer {
  return { lead, sales: soldDaysAgo.map((daysAgo) => ({ daysAgo, amount })) }
}

export const demoPartners: SamplePartner[] = [
  {
    username: 'nora',
    name: 'Nora Lindqvist',
    email: 'nora@nora.example',
    country: 'SE',
    tag: 'newsletter',
    group: 'creators',
    clicks: 140,
    // The fourth sign-up is beyond the spend limit of the lead reward.
    customers: [buyer(28, 4_900, 28, 2), buyer(25, 4_900, 24), buyer(19, 9_900, 18), { lead: 6 }],
  },
  {
    username: 'mateo',
    name: 'Mateo Rojas',
    email: 'mateo@rojas.example',
    country: 'ES',
    tag: 'video',
    group: 'creators',
    clicks: 90,
    customers: [buyer(26, 9_900, 25), buyer(12, 4_900, 11), { lead: 2 }],
  },
  {
    username: 'yuki',
    name: 'Yuki Tanaka',
    email: 'yuki@tanaka.example',
    country: 'JP',
    tag: 'video',
    group: 'creators',
    clicks: 60,
    customers: [buyer(21, 4_900, 20), buyer(4, 19_900, 3)],
  },
  {
    username: 'lena',
    name: 'Lena Brandt',
    email: 'lena@brandt.example',
    country: 'DE',
    tag: 'newsletter',
    group: 'creators',
    clicks: 45,
    customers: [buyer(9, 4_900, 8), { lead: 5, sales: [{ daysAgo: 5, amount: 2_900, refunded: 2_900 }] }],
  },
  {
    username: 'harbour',
    name: 'Harbour Studio',
    email: 'hello@harbour.example',
    country: 'GB',
    tag: 'agency',
    group: 'agencies',
    clicks: 70,
    customers: [
      { lead: 22, sales: [{ daysAgo: 21, amount: 29_900, productId: 'team' }] },
      { lead: 14, sales: [{ daysAgo: 13, amount: 9_995, refunded: 5_000 }] },
    ],
  },
  {
    username: 'north',
    name: 'North & Co',
    email: 'partners@north.example',
    country: 'CA',
    tag: 'agency',
    group: 'agencies',
    clicks: 50,
    customers: [buyer(16, 14_900, 15), buyer(7, 9_900, 7)],
  },
  {
    username: 'amara',
    name: 'Amara Okafor',
    email: 'amara@okafor.example',
    country: 'NG',
    tag: 'customer',
    group: 'friends',
    clicks: 25,
    // Only the first sale earns.
    customers: [buyer(27, 4_900, 27, 10)],
  },
  {
    username: 'tom',
    name: 'Tom Keller',
    email: 'tom@keller.example',
    country: 'US',
    tag: 'customer',
    group: 'friends',
    clicks: 20,
    customers: [buyer(17, 9_900, 17), { lead: 3 }],
  },
]
