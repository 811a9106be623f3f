package words

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// bilingual is what everyday words of offices and computers are called in the
// other language, German = English, so that a question in one finds texts in
// the other. It was written for this program; a word that means different
// things in different trades ("Bank", "Gericht") is not in it.
const bilingual = `
abbruch abbrechen abgebrochen abgebrochene = abort cancel interrupted
abfrage abfragen = query
ablauf ablaufen abgelaufen = expire expiry expiration
abmelden abmeldung = logout
absatz absätze = paragraph
absender = sender
adresse adressen = address
aktualisieren aktualisierung aktualisiert aktualisierungen = update updated upgrade
aktivieren aktiviert einschalten eingeschaltet anschalten = enable enabled activate
alter = age
anbieter = provider vendor
anfang beginn beginnen = begin beginning start
anfrage anfragen = request
angabe angaben = specify specification
angebot angebote = offer
anhang anhänge = attachment appendix
anmelden anmeldung = login
anwender benutzer nutzer = user
anwendung anwendungen = application
anzahl = number count
anzeige anzeigen angezeigt = display show
arbeit = work
arbeitszeit = hours
architektur architekturen = architecture
archiv archive = archive
auflisten liste = list
auftrag aufträge = order
ausdruck ausdrücke = expression
ausführen ausgeführt ausführung = execute run executed
ausgabe ausgeben = output print
ausnahme ausnahmen = exception
ausschalten abschalten deaktivieren deaktiviert = disable disabled
ausstieg beenden beendet beende verlassen = quit exit end terminate
auswahl auswählen = select choose
bedingung bedingungen = condition terms
bedeutung bedeuten = meaning
befehl befehle = command
begrenzen begrenzung beschränken beschränkung grenze = limit maximum
beispiel beispiele = example
benachrichtigung = notification
benötigen benötigt = require required
berechtigung berechtigungen rechte = permission permissions
bericht berichte = report
beschreibung = description
bestellung bestellungen bestellen = order
betrag = amount
betriebssystem = system
bezahlen zahlen zahlung = pay payment
bildschirm = screen display
breite = width
buch bücher = book
buchstabe buchstaben = letter
chef leiter = manager
datei dateien = file files
daten = data
datenbank datenbanken = database databases
datum = date
dauer dauern dauert = duration time long
drucken drucker = print printer
eigenschaft eigenschaften = property
eigentümer besitzer = owner
eingabe eingeben = input enter
einrichten einrichtung = setup configure
einstellung einstellungen = setting settings
empfangen empfänger = receive recipient
entfernen entfernt löschen gelöscht lösche löscht = remove delete removed deleted
entpacken dekomprimieren dekompression = decompress decompression extract unpack
entwickeln entwickler entwicklung = develop developer development
ergebnis ergebnisse = result results
erlauben erlaubt dürfen gestattet = allow allowed permit permitted may
ersetzen ersatz = replace replacement
erstellen erzeugen anlegen = create
erstattung erstatten = refund reimburse
fehler = error failure bug
fenster = window
festplatte = disk
feld felder = field
finger fingerabdruck = fingerprint
firma unternehmen = company
folgen folgt = follow
fortsetzen weiterführen = continue resume
format = format
frage fragen = question ask
frei = free
freigabe freigeben = release
frist fristen = deadline period
funktion funktionen = function
garantie gewährleistung = warranty
gebühr gebühren verlangen = fee charge
gehalt lohn = salary wage
gerät geräte = device
geschwindigkeit = speed rate
gesetz = law
gewicht = weight
größe = size
gründen gegründet gründer = found founded founder
gruppe gruppen = group groups
gültig gültigkeit = valid validity
haftung = liability
herunterladen = download
hilfe = help
höchstens maximal = maximum most
höhe = height
inhalt inhalte = content contents
installieren installation installiert = install installation installed
instanz = instance
jahr jahre jahren = year years
kanal = channel
kapitel = chapter
kennung = id identifier
kennwort passwort kennwörter passwörter = password passwords passphrase
kennzeichnen kennzeichnung = mark notice label
klasse = class
kommentar = comment
komprimieren komprimierung kompression = compress compression
konfiguration konfigurieren = configuration config configure
konto = account
kopie kopien kopieren = copy copies
kosten kostet preis preise = cost price
kunde kunden = customer customers
kündigen kündigung = terminate termination notice
kündigungsfrist = notice period
land länder = country
länge = length
laufwerk = drive
laufzeit = runtime term
leer = empty
leiste zeile zeilen = line bar
leitung = line
lesen = read
lieferung liefern = delivery deliver ship
lizenz lizenzen = license licence
maus = mouse
mehrwertsteuer = vat
meldung nachricht nachrichten = message messages
miete mieter = rent tenant
mitarbeiter angestellte = employee employees staff
mitglied mitglieder = member
modus = mode
monat monate monaten = month months
name namen = name names
netz netzwerk = network
neustart neustarten = reboot restart
nummer = number
oberfläche = interface surface
öffnen öffnungszeiten = open opening
option optionen = option options
ordner verzeichnis verzeichnisse = directory folder
ort = place location
paket pakete = package packages
patent patente = patent patents
pfad = path
pflicht = obligation duty
platz = space room
port = port
programm programme = program programs
protokoll protokolle = log protocol
protokolldatei = log
prozess prozesse = process
prüfen prüfung überprüfen überprüfung = check verify verification test
prüfsumme = checksum
puffer = buffer
quelle quellen quelltext quellcode = source
rabatt = discount
rechner computer = computer machine
rechnung rechnungen = invoice bill
regel regeln = rule rules
reihenfolge = order sequence
reise reisen = travel trip
schicken senden versenden = send
schließen geschlossen = close closed
schlüssel = key keys
schnell = fast
schreiben geschrieben = write written
schrift schriftart = font
schutz schützen = protection protect
seite seiten = page pages
sekunde sekunden = second seconds
server = server
sicherheit = security safety
sicherung = backup
signal = signal
sitzung sitzungen = session sessions
spalte spalten = column
speicher arbeitsspeicher = memory storage
speichern = save store
sperre sperren gesperrt = lock locked
sprache sprachen = language
standard standardmäßig voreinstellung voreingestellt vorgabe normalerweise = default
statisch = static
status zustand = status state
steuer = tax
stufe stufen = level
stunde stunden = hour hours
suchen suche = search find
suffix endung = suffix extension
symbol = symbol
tabelle tabellen = table
tag tage tagen täglich = day days daily
taste tasten = key
teil teile = part
teilen = split share
telefon = phone
temporär = temporary
text = text
titel = title
trennen = separate detach
treffen besprechung = meeting
typ typen = type
übertragung übertragen = transfer transmission
überschrift = heading
uhrzeit zeit = time clock
umgebungsvariable = variable environment
umleitung weiterleitung weiterleitungen umleitungen = redirect redirects redirection
unterschied unterschiede = difference differ
unterstützen unterstützung = support
untergrenze = minimum
urlaub urlaubstage ferien = vacation holiday holidays leave
ursache = cause
mindestens minimal = minimum least
variable variablen = variable
verändern veränderung ändern geändert änderung änderungen geänderte = change modify modified modification changed
veraltet = deprecated obsolete
verantwortlich zuständig = responsible
verbinden verbindung verbindungen verbindungsaufbau = connect connection connecting
vergleich vergleichen = compare comparison
verkaufen verkauf = sell sale
verlängern verlängerung = extend renew
vermögen = assets
veröffentlichen veröffentlichung = publish release
verschlüsseln verschlüsselung = encrypt encryption
versichern versicherung = insurance
version versionen fassung = version
versuch versuche = attempt attempts try
vertrag verträge = contract agreement
verwenden verwendet benutzen nutzen = use used
verzeichnen = list
vorlage = template
warten wartet = wait
warnung = warning
wartung = maintenance
wechseln = switch change
weitergeben weitergabe verbreiten = distribute convey redistribute
wert werte = value values
wiederholen wiederholung = repeat retry
woche wochen wöchentlich = week weeks weekly
wörterbuch = dictionary
wurzel = root
zahl zahlen = number figure
zeichen = character characters
zeiger = pointer
zeichenkette = string
zertifikat zertifikate = certificate certificates
ziel = target destination goal
zugriff zugang = access
zurücksetzen = reset
zuweisen zuweisung = assign assignment
`

// dictionary is, of a language, what a stem is called.
type dictionary map[Language]map[string]names

type names struct{ other, same []string } // in the other language, and in its own

var bothWays = sync.OnceValue(func() dictionary {
	d := dictionary{German: {}, English: {}}
	for line := range strings.Lines(bilingual) {
		de, en, ok := strings.Cut(line, "=")
		if !ok {
			continue
		}
		d.add(German, strings.Fields(de), strings.Fields(en))
		d.add(English, strings.Fields(en), strings.Fields(de))
	}
	return d
})

func (d dictionary) add(l Language, from, to []string) {
	for _, w := range from {
		stem := Stem(l, w)
		n := d[l][stem]
		for _, t := range to {
			if !slices.Contains(n.other, t) {
				n.other = append(n.other, t)
			}
		}
		for _, s := range from {
			if s = Stem(l, s); s != stem && !slices.Contains(n.same, s) {
				n.same = append(n.same, s)
			}
		}
		d[l][stem] = n
	}
}

// Translations are words of the other language for a folded word of l, nil
// where none is known. A German compound is taken apart: "statuszeile" has the
// words for both of its parts.
func Translations(l Language, word string) []string {
	d := bothWays()[l]
	if list := d[Stem(l, word)].other; list != nil || l != German {
		return list
	}
	for at := len(word) - shortestPart; at >= shortestPart; at-- {
		if !utf8.RuneStart(word[at]) {
			continue
		}
		last := d[Stem(l, word[at:])].other
		if last == nil {
			continue
		}
		for _, link := range []string{"", "s", "es", "n", "en"} {
			first, ok := strings.CutSuffix(word[:at], link)
			if !ok || len(first) < shortestPart {
				continue
			}
			if list := d[Stem(l, first)].other; list != nil {
				return slices.Concat(list, last)
			}
		}
	}
	return nil
}

// Synonyms are stems of words that may be said instead of a folded word of l:
// those with the same translation. nil where none is known.
func Synonyms(l Language, word string) []string { return bothWays()[l][Stem(l, word)].same }

// shortestPart is how many bytes a part of a compound has at least.
const shortestPart = 4
