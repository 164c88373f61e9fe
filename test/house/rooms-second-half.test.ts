import 'reflect-metadata';

import { describe } from 'node:test';

import { halves, serveWithout } from './rooms.ts';

describe('a house from which a room of the second half is taken away', () =>
  serveWithout(halves[1]));
