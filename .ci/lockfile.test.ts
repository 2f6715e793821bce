import { expect, test } from 'vitest'
import { driftFaults, hostFaults } from './lockfile.ts'

test.each([
  ['a package by hash', { 'node_modules/a': { integrity: 'sha512-x' } }, []],
  ['a workspace', { contract: {}, 'node_modules/@tributary/contract': { resolved: 'contract', link: true } }, []],
  ["another platform's binary", { 'node_modules/a-win32': { optional: true } }, []],
  [
    'a registry',
    { 'node_modules/a': { resolved: 'https://registry.example/a.tgz', integrity: 'sha512-x' } },
    ['node_modules/a is bound to the registry https://registry.example/a.tgz'],
  ],
  [
    'a repository',
    { 'node_modules/a': { resolved: 'git+ssh://git@host.example/a.git#1' } },
    ['node_modules/a is bound to the registry git+ssh://git@host.example/a.git#1'],
  ],
  ['no hash', { 'node_modules/a': {} }, ['node_modules/a has no integrity hash']],
])('%s', (_, packages, faults) => {
  expect(hostFaults(packages)).toEqual(faults)
})

test.each([
  ['the same', { dependencies: { a: '1.0.0' } }, { dependencies: { a: '1.0.0' } }, []],
  [
    'another version',
    { dependencies: { a: '2.0.0' } },
    { dependencies: { a: '1.0.0' } },
    ['p requires a 2.0.0, the lock file has 1.0.0'],
  ],
  ['not locked yet', { devDependencies: { a: '1.0.0' } }, {}, ['p requires a 1.0.0, the lock file has no version']],
  ['no longer required', {}, { dependencies: { a: '1.0.0' } }, ['p requires a (not at all), the lock file has 1.0.0']],
])('drift: %s', (_, manifest, locked, faults) => {
  expect(driftFaults('p', manifest, locked)).toEqual(faults)
})
