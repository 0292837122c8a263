// Colors of frames, read again from the style sheet when the theme changes.

import { onTheme, styled } from 'lasthop/ui.js';

const NAMES = [
  'ground',
  'raised',
  'line',
  'row',
  'row-other',
  'text',
  'quiet',
  'accent',
  'grid',
  'selected',
  'ampdu',
  'data',
  'ack',
  'control',
  'beacon',
  'partly',
  'collided',
  'noise',
  'nav',
  'waiting',
  'again',
  'failure',
  'window',
];

export const colours = {};

export function readColours() {
  for (const name of NAMES) colours[name] = styled(`--${name}`);
}

onTheme(readColours);

const BY_KIND = ['control', 'control', 'control', 'data', 'ack', 'ampdu', 'ack', 'control', 'beacon'];
const NO_COUNT = 0xffff;
export const NOISE = 2;

/** The colour of row `i` of an exact tile of the air. */
export function colourOf(columns, i) {
  const { lost, decoded, mpdus, kind } = columns;
  if (lost[i] !== 0xff && decoded[i] !== NO_COUNT) {
    if (decoded[i] > 0 && decoded[i] < mpdus[i]) return colours.partly;
    return lost[i] === NOISE ? colours.noise : colours.collided;
  }
  return colours[BY_KIND[kind[i]]];
}

/** Meanings of the colours, for the legend. */
export const LEGEND = [
  ['ampdu', 'A-MPDU'],
  ['data', 'data'],
  ['ack', 'Ack, BlockAck'],
  ['control', 'RTS, CTS, BAR'],
  ['beacon', 'beacon'],
  ['partly', 'partly lost'],
  ['collided', 'collision or hidden-node loss'],
  ['noise', 'lost to noise'],
  ['waiting', 'backs off, defers'],
  ['nav', 'NAV'],
];
