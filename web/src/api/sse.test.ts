import { describe, expect, it } from 'vitest';
import { createParser, readFrame, type Frame } from './sse.ts';

const log =
  ': hello\r\n\r\nid: 7\r\nevent: token\r\ndata: {"event":"token","data":"Grüße"}\r\n\r\n' +
  'event: ping\ndata: {}\n\n' +
  'id: 8\revent: status\rdata: {"event":"status",\rdata: "data":{"node":"a"}}\r\r' +
  'id: 9\ndata:{"event":"paused","data":{}}\n\n: end\n\n';

function parse(pieces: string[]): Frame[] {
  const parser = createParser();
  return pieces.flatMap((piece) => parser(piece));
}

const whole = parse([log]);

// Requirements: UI-26
describe('the parser of the event log', () => {
  it('reads every kind of line end, comments, and data over several lines', () => {
    expect(whole.map((frame) => [frame.id, frame.event])).toEqual([
      ['7', 'token'],
      ['7', 'ping'],
      ['8', 'status'],
      ['9', 'message'],
    ]);
    expect(whole[2]!.data).toBe('{"event":"status",\n"data":{"node":"a"}}');
  });

  it('gives the same frames wherever the text is split', () => {
    for (let at = 0; at <= log.length; at++) expect(parse([log.slice(0, at), log.slice(at)])).toEqual(whole);
    expect(parse([...log])).toEqual(whole);
  });

  it('makes events, and passes over pings and what is malformed', () => {
    expect(whole.map(readFrame)).toEqual([
      { seq: 7, kind: 'token', data: 'Grüße' },
      null,
      { seq: 8, kind: 'status', data: { node: 'a' } },
      { seq: 9, kind: 'paused', data: {} },
    ]);
    expect(readFrame({ id: '1', event: 'token', data: '{half' })).toBeNull();
  });
});
