// Runs before the first paint, so a chosen theme never flashes the other one.
try {
  const theme = localStorage.getItem('liminal.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // Storage is closed to us: the system's theme holds.
}
