import 'reflect-metadata';

import { describe } from 'node:test';

import { rounds } from '../drill/rounds.ts';
import { halves, serveWhileLeaving, serveWithout } from './rooms.ts';

describe('a house from which a room of the first half is taken away', () =>
  rounds(serveWhileLeaving, serveWithout)(halves[0]));
