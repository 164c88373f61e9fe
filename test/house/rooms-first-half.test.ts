import 'reflect-metadata';

import { describe } from 'node:test';

import { halves, serveWithout } from './rooms.ts';

describe('a house from which a room of the first half is taken away', () =>
  serveWithout(halves[0]));
