// The panel opened by a click: a PPDU with its content and outcome, or a packet on its way.

import { element, moment, span, withPrefix } from 'lasthop/ui.js';

/** The panel next to the air. `go` has `ppdu(number)`, `packet(flow, up, number)` and `time(begin, end)`. */
export class Details {
  constructor(go) {
    this.go = go;
    this.box = element('section', { class: 'details', 'aria-label': 'details', 'aria-live': 'polite' });
    this.clear();
  }

  clear() {
    this.box.replaceChildren(
      element(
        'p',
        { class: 'quiet' },
        'Click a frame of the air: what was in it, why it was lost, who overlapped it. Click a segment of the sequence chart: every PPDU that held it.',
      ),
    );
  }

  show(...content) {
    this.box.replaceChildren(
      element(
        'button',
        { class: 'close', type: 'button', title: 'close (Esc)', 'aria-label': 'close', onclick: () => this.go.close() },
        '×',
      ),
      ...content.flat().filter(Boolean),
    );
    this.box.scrollTop = 0;
  }

  ppdu(facts) {
    this.show(
      element('h2', {}, `${facts.kind} ${facts.node}${facts.to ? ` → ${facts.to}` : ''}`),
      element('p', { class: facts.lost_to && facts.decoded < facts.mpdus ? 'why lost' : 'why' }, facts.why),
      table([
        ['time', `${moment(facts.start_ns, 100)}, for ${span(facts.duration_ns)}`],
        ['mode', mode(facts)],
        facts.ru_tones == null ? null : ['RU', ru(facts)],
        ['length', `${facts.bytes} B${facts.mpdus > 1 ? ` in ${facts.mpdus} MPDUs` : ''}`],
        facts.retried ? ['sent before', facts.mpdus > 1 ? `${facts.retried} of its MPDUs` : 'yes: a retry'] : null,
        facts.nav_ns ? ['NAV', `reserves the medium for ${span(facts.nav_ns)} more`] : null,
        facts.backoff && facts.initiator === facts.node
          ? [
              'backoff',
              `${facts.backoff.slots} slots of 0 to ${facts.backoff.cw}, drawn at ${moment(facts.backoff.t_ns, 1000)}`,
            ]
          : null,
      ]),
      this.contents(facts),
      this.list(
        'Users of the same PPDU',
        (facts.users ?? []).map((one) => this.line(one, `, RU of ${ru(one)}`, one.ppdu === facts.ppdu)),
      ),
      this.list(
        'On the air with it',
        facts.overlapped.map((other) => this.line(other, apart(other, facts))),
      ),
      this.list(
        'Its exchange',
        facts.exchange.length > 1 ? facts.exchange.map((one) => this.line(one, '', one.ppdu === facts.ppdu)) : [],
      ),
      this.after(facts),
    );
  }

  contents(facts) {
    if (!facts.contents?.length) return [];
    const lines = facts.contents.map((run) => {
      const last = run.packet + run.packets - 1;
      const what = run.ack_bytes && !run.data_bytes ? 'TCP ACKs' : 'data';
      const packets = element('span', { class: 'packets' });
      // Each packet is a link of its own, as far as there is room.
      for (let packet = run.packet; packet <= Math.min(last, run.packet + 7); packet += 1) {
        packets.append(
          link(`${packet}`, () => this.go.packet(run.flow_number, run.up, packet)),
          ' ',
        );
      }
      if (last > run.packet + 7)
        packets.append(
          '… ',
          link(`${last}`, () => this.go.packet(run.flow_number, run.up, last)),
        );
      return element(
        'li',
        { class: run.decoded ? '' : 'lost' },
        `${run.flow} ${run.up ? '↑' : '↓'} ${run.packets} × ${what}${run.decoded ? '' : ', not decoded'}: `,
        packets,
      );
    });
    return this.list('In it, packets', lines);
  }

  after(facts) {
    const lines = [];
    if (facts.next)
      lines.push(this.line(facts.next, ` the next to ${facts.to}, at ${withPrefix(facts.next.rate_bps, 'bit/s')}`));
    if (facts.rate_after) {
      const { t_ns: at, rate_bps: rate, down, after } = facts.rate_after;
      lines.push(
        element(
          'li',
          {},
          link(moment(at, 100000), () => this.go.time(at, at)),
          ` rate control of ${facts.link} ${down ? 'stepped down' : 'stepped up'} to ${withPrefix(rate, 'bit/s')} after ${after}`,
        ),
      );
    }
    return this.list('Afterwards', lines);
  }

  packet(facts) {
    const [first] = facts.segments;
    const quic = facts.quic ?? [];
    const what = first ? (first.len ? `data ${first.seq} to ${first.seq + first.len}` : `ACK ${first.ack}`) : 'packet';
    this.show(
      element('h2', {}, `${facts.flow} ${facts.up ? '↑' : '↓'} packet ${facts.packet}`),
      element('p', { class: 'why' }, `${what}${first?.again ? ', some of which had been sent before' : ''}.`),
      this.list(
        'At its hosts',
        facts.segments.map((segment) =>
          element(
            'li',
            {},
            link(moment(segment.t_ns, 1000), () => this.go.time(segment.t_ns, segment.t_ns)),
            ` ${segment.sent ? 'sent by' : 'has arrived at'} the ${segment.host}`,
          ),
        ),
      ),
      quic.length > 0 &&
        this.list(
          'QUIC packets',
          quic.map((packet) =>
            element(
              'li',
              {},
              link(moment(packet.t_ns, 1000), () => this.go.time(packet.t_ns, packet.t_ns)),
              ` ${packet.sent ? 'sent by' : 'has arrived at'} the ${packet.host}: ${packet.space} ${packet.number}, ${packet.bytes} B: ${packet.frames.join('; ')}`,
            ),
          ),
        ),
      this.list(
        `In ${facts.ppdus.length} PPDU${facts.ppdus.length === 1 ? '' : 's'}`,
        facts.ppdus.map((ppdu) =>
          this.line(
            ppdu,
            ppdu.packet_decoded ? ' – it was decoded' : ` – lost to ${ppdu.lost_to ?? 'the end of the recording'}`,
          ),
        ),
      ),
      this.list(
        'Dropped',
        facts.drops.map((drop) =>
          element(
            'li',
            { class: 'lost' },
            link(moment(drop.t_ns, 1000), () => this.go.time(drop.t_ns, drop.t_ns)),
            ` at ${drop.node} (${drop.layer}): ${drop.reason.replaceAll('_', ' ')}`,
          ),
        ),
      ),
      !facts.ppdus.length && !facts.drops.length
        ? element(
            'p',
            { class: 'quiet' },
            'No PPDU held it: it waits, was dropped in a queue, or its PPDUs lie outside the recording.',
          )
        : null,
    );
  }

  line(ppdu, said, here = false) {
    const lost = ppdu.lost_to && ppdu.decoded < ppdu.mpdus;
    const name = `${ppdu.kind} ${ppdu.node}${ppdu.to ? ` → ${ppdu.to}` : ''}`;
    return element(
      'li',
      { class: lost ? 'lost' : '' },
      here ? element('b', {}, name) : link(name, () => this.go.ppdu(ppdu.ppdu, ppdu)),
      ` ${moment(ppdu.start_ns, 100)}, ${span(ppdu.duration_ns)}${ppdu.mpdus > 1 ? `, ${ppdu.decoded}/${ppdu.mpdus}` : ''}${said}`,
    );
  }

  list(title, lines) {
    return lines.length ? [element('h3', {}, title), element('ul', {}, lines)] : [];
  }
}

function apart(other, facts) {
  const off = other.start_ns - facts.start_ns;
  if (off === 0) return ', at the same instant';
  return `, ${span(Math.abs(off))} ${off > 0 ? 'after' : 'before'} it`;
}

function mode(facts) {
  const rate = withPrefix(facts.rate_bps, 'bit/s');
  if (facts.mcs == null) return rate;
  return `MCS ${facts.mcs}, ${facts.nss} spatial stream${facts.nss === 1 ? '' : 's'}, ${facts.width_mhz} MHz, guard interval ${span(facts.gi_ns)}: ${rate}`;
}

const ru = (facts) => `${facts.ru_tones} tones, number ${facts.ru_place}`;

const link = (text, act) => element('button', { class: 'link', type: 'button', onclick: act }, text);

const table = (rows) =>
  element(
    'table',
    {},
    rows
      .filter(Boolean)
      .map(([name, value]) => element('tr', {}, element('th', { scope: 'row' }, name), element('td', {}, value))),
  );
