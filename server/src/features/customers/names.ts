import { randomInt } from 'node:crypto'

const qualities =
  'Amber Bold Brave Bright Calm Clever Cosy Crisp Daring Eager Early Fair Gentle Glad Golden Grand Happy Honest Humble Jolly Keen Kind Lively Lucky Merry Mild Noble Patient Polite Proud Quick Quiet Rapid Ready Rosy Silver Smart Steady Sunny Swift Tidy Warm Wise Witty'
const animals =
  'Badger Bear Beaver Bison Crane Deer Dolphin Dove Eagle Falcon Finch Fox Gull Hare Hawk Heron Ibex Jay Koala Lark Lemur Linnet Lynx Marten Mole Moose Otter Owl Panda Penguin Puffin Quail Raven Robin Salmon Seal Sparrow Stork Swan Thrush Tiger Trout Turtle Walrus Wren'

/** A random name for a customer that was created without name and email. */
export function anyName(): string {
  return `${pickWord(qualities)} ${pickWord(animals)}`
}

function pickWord(words: string): string {
  const list = words.split(' ')
  return list[randomInt(list.length)] as string
}
