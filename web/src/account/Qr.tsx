import { useMemo } from 'react';
import { drawQR } from './qr.ts';

/** A QR code; what it says stands in words beside it. Dark on light in every theme, as cameras want it. */
export function Qr({ text, label }: { text: string; label: string }) {
  const { size, path } = useMemo(() => drawQR(text), [text]);
  return (
    <svg className="qr" role="img" aria-label={label} viewBox={`0 0 ${size} ${size}`} shapeRendering="crispEdges">
      <path d={path} />
    </svg>
  );
}
